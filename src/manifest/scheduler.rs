//! The manifests of one scheduler, each read when it is first asked for.

use std::num::NonZero;
use std::sync::OnceLock;

use super::file::{ManifestFile, ManifestHead};
use super::load::{empty, resolve, version_order};
use super::source::Source;
use super::{Manifest, chain, check};
use crate::data::DataFile;
use crate::{Error, Result};

/// The manifests of one scheduler.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    /// Its short name.
    pub name: String,
    /// Oldest first.
    generations: Vec<Generation>,
}

/// The file of one generation, and what was read of it so far.
#[derive(Clone, Debug)]
struct Generation {
    file: DataFile,
    head: ManifestHead,
    /// Most runs are about one release of one scheduler: the others' files are not read for it.
    read: OnceLock<Manifest>,
}

impl Scheduler {
    /// The files of a scheduler, with their paths in the tree. Those that come with the program
    /// have been checked by its tests; where one is somebody's own, all are read and checked at once.
    pub fn of(name: &str, files: &[(&str, &DataFile)]) -> Result<Self> {
        let own = files.iter().any(|(_, file)| !file.built_in);
        if own {
            check_files(files)?;
        }
        let read = |(_, file): &(&str, &DataFile)| {
            Ok(Generation { file: (*file).clone(), head: Source { file }.head()?, read: OnceLock::new() })
        };
        let mut generations = files.iter().map(read).collect::<Result<Vec<_>>>()?;
        generations.sort_by_key(|g| version_order(&g.head.generation));
        let scheduler = Self { name: name.to_owned(), generations };
        if own {
            scheduler.all()?;
        }
        Ok(scheduler)
    }

    pub fn is_built_in(&self) -> bool {
        self.generations.iter().all(|g| g.file.built_in)
    }

    /// All of them, oldest first.
    pub fn all(&self) -> Result<Vec<&Manifest>> {
        (0..self.generations.len()).map(|at| self.read(at)).collect()
    }

    /// The one that lists a release.
    pub fn release(&self, release: &str) -> Result<Option<&Manifest>> {
        self.find(|head| head.releases.iter().any(|r| r == release))
    }

    /// The one of a generation.
    pub fn generation(&self, generation: &str) -> Result<Option<&Manifest>> {
        self.find(|head| head.generation == generation)
    }

    /// Every release, oldest first.
    pub fn releases(&self) -> Vec<&str> {
        self.generations.iter().flat_map(|g| g.head.releases.iter().map(String::as_str)).collect()
    }

    /// The same with tables whose names begin with a prefix of somebody's own; nothing if none can be chosen.
    pub fn with_prefix(&self, prefix: &str) -> Result<Option<Self>> {
        let mut renamed = Vec::new();
        for (generation, manifest) in self.generations.iter().zip(self.all()?) {
            if manifest.table_prefix.is_some() {
                let read = OnceLock::from(manifest.with_prefix(prefix));
                renamed.push(Generation { read, ..generation.clone() });
            }
        }
        Ok((!renamed.is_empty()).then(|| Self { name: self.name.clone(), generations: renamed }))
    }

    fn find(&self, wanted: impl Fn(&ManifestHead) -> bool) -> Result<Option<&Manifest>> {
        self.generations.iter().position(|g| wanted(&g.head)).map(|at| self.read(at)).transpose()
    }

    /// The generation at a place.
    fn read(&self, at: usize) -> Result<&Manifest> {
        let read = &self.generations[at].read;
        if let Some(manifest) = read.get() {
            return Ok(manifest);
        }
        let manifest = self.folded(at)?;
        Ok(read.get_or_init(|| manifest))
    }

    /// A generation with all that it extends; what was not asked for is not kept.
    fn folded(&self, at: usize) -> Result<Manifest> {
        let (mut chain, mut base) = (vec![at], self.extended(at));
        while let Some(next) = base
            && self.generations[next].read.get().is_none()
        {
            chain.push(next);
            base = self.extended(next);
        }
        let known = base.and_then(|base| self.generations[base].read.get());
        let mut manifest = known.cloned().unwrap_or_else(|| empty(&self.name));
        let sources: Vec<_> = chain.iter().rev().map(|at| Source { file: &self.generations[*at].file }).collect();
        for (source, parsed) in sources.iter().zip(parsed(&sources)) {
            let file = parsed?;
            if let Some(extends) = file.extends.as_ref().filter(|e| *e.get_ref() != manifest.generation) {
                let message = format!("extends: no earlier generation {} of {}", extends.get_ref(), self.name);
                return Err(source.at(extends, message));
            }
            manifest = resolve(manifest, *source, &file)?;
        }
        Ok(manifest)
    }

    /// The place of the generation that one extends.
    fn extended(&self, at: usize) -> Option<usize> {
        let extends = self.generations[at].head.extends.as_ref()?;
        self.generations[..at].iter().position(|g| g.head.generation == *extends)
    }
}

/// Files, parsed on all of the machine's cores: a chain of generations is long.
fn parsed(sources: &[Source<'_>]) -> Vec<Result<ManifestFile>> {
    type Part<'p> = (Source<'p>, String);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let parse = |part: &[Part<'_>]| part.iter().map(|(source, text)| source.parse_part(text)).collect::<Vec<_>>();
    let parts: Vec<Part<'_>> = sources.iter().copied().zip(chain::texts(sources)).collect();
    std::thread::scope(|scope| {
        let (first, others) = parts.split_at(parts.len().div_ceil(cores));
        let others = others.chunks(first.len().max(1));
        let others: Vec<_> = others.map(|part| scope.spawn(move || parse(part))).collect();
        let mut all = parse(first);
        for part in others {
            all.extend(part.join().unwrap_or_else(|_| vec![Err(Error::internal("a manifest could not be read"))]));
        }
        all
    })
}

/// What is wrong between files is told before what is wrong in one of them.
fn check_files(files: &[(&str, &DataFile)]) -> Result<()> {
    let mut parsed: Vec<(Source<'_>, ManifestFile)> = Vec::new();
    for (path, file) in files {
        let source = Source { file };
        let manifest = source.parse()?;
        source.check_path(path, &manifest)?;
        parsed.push((source, manifest));
    }
    parsed.sort_by_key(|(_, file)| version_order(file.generation.get_ref()));
    check::unique_releases(&parsed)
}

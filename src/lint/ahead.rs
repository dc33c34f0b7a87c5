//! Parses and reads a script's statements ahead of the rules, on the machine's other cores.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, Scope, available_parallelism};

use super::STACK;
use super::knowledge::Knowledge;
use super::parse::{Parsed, grammar, parse};
use super::read::read;
use super::reading::Reading;
use crate::manifest::Engine;
use crate::sql::{Piece, PieceKind, Places};

/// How many pieces of a script are parsed at a time.
const BATCH: usize = 64;

/// How many such batches may wait for the rules on each core, so that memory stays bounded.
const WAITING: usize = 4;

/// A script's pieces, and what they are parsed and read with.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub text: &'t str,
    pub pieces: &'t [Piece],
    pub places: &'t Places<'t>,
    pub engine: Engine,
    /// What is known of the release, as soon as it is known.
    pub known: &'t (dyn Fn() -> Option<&'t Knowledge<'t>> + Sync),
    /// Tables of the script's own, under the name of a schema.
    pub own: &'t [String],
}

/// What the other cores parse, in batches, by turns.
pub(super) struct Ahead<'t> {
    pub source: Source<'t>,
    /// One for each thread; none where it could not be started.
    lanes: Vec<Option<Receiver<Batch>>>,
}

/// The statements of some pieces. Commands for the client have none.
type Batch = Vec<Vec<Ready>>;

/// A statement, and how it reads where nothing before it has set a variable, if that was known by then.
pub(super) struct Ready {
    pub parsed: Parsed,
    pub reading: Option<Reading>,
}

impl<'t> Source<'t> {
    /// Begins to parse. A short script is left to whoever asks for it.
    pub fn start<'s>(self, scope: &'s Scope<'s, '_>) -> Ahead<'t>
    where
        't: 's,
    {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let lanes = if self.pieces.len() > 2 * BATCH { cores } else { 0 };
        Ahead { source: self, lanes: (0..lanes).map(|lane| self.lane(scope, lane, lanes)).collect() }
    }

    /// Starts to parse every `lanes`th batch, from the `lane`th on.
    fn lane<'s>(self, scope: &'s Scope<'s, '_>, lane: usize, lanes: usize) -> Option<Receiver<Batch>>
    where
        't: 's,
    {
        let (send, receive) = sync_channel(WAITING);
        let work = move || {
            let mut batches = self.pieces.chunks(BATCH).skip(lane).step_by(lanes);
            // Nobody may ask for the rest.
            let _ = batches.try_for_each(|batch| send.send(self.read(self.parsed(batch))));
        };
        Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok().map(|_| receive)
    }

    fn parsed(self, batch: &[Piece]) -> Batch {
        let grammar = grammar(self.engine);
        let parsed = |piece: &Piece| match piece.kind {
            PieceKind::Sql => parse(self.text, piece, grammar.as_ref(), self.places),
            PieceKind::Client => Vec::new(),
        };
        let ready = |piece| parsed(piece).into_iter().map(|parsed| Ready { parsed, reading: None }).collect();
        batch.iter().map(ready).collect()
    }

    fn read(self, mut batch: Batch) -> Batch {
        if let Some(knowledge) = (self.known)() {
            for ready in batch.iter_mut().flatten() {
                ready.reading =
                    ready.parsed.what.as_ref().ok().map(|statement| read(statement, (knowledge, self.own), &[]));
            }
        }
        batch
    }
}

impl Ahead<'_> {
    /// Gives each piece with its statements, in the order of the script.
    pub fn each(self, mut then: impl FnMut(&Piece, Vec<Ready>)) {
        for (number, batch) in self.source.pieces.chunks(BATCH).enumerate() {
            let lane = self.lanes.get(number % self.lanes.len().max(1)).and_then(Option::as_ref);
            let ready = lane.and_then(|lane| lane.recv().ok()).unwrap_or_else(|| self.source.parsed(batch));
            batch.iter().zip(ready).for_each(|(piece, ready)| then(piece, ready));
        }
    }
}

//! All flags. The recipes' parameters become flags of `plan` and `inspect`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::plan::bare_address;
use crate::recipe::{Parameter, ParameterKind, Recipes};
use crate::{Error, Result, ui};

const EXIT_CODES: &str = "Exit codes: 0 done, or nothing found · 1 findings · 2 usage or configuration · \
3 a guard failed and everything was rolled back · 4 refused before any change · 6 database error · 70 internal";

/// The whole command line.
#[must_use]
pub fn command(recipes: &Recipes) -> Command {
    Command::new("flowmend")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "Generates reviewable, guarded, reversible SQL repairs for the metadata databases of workflow schedulers",
        )
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(common())
        .subcommand(
            Command::new("demo")
                .about("Walk through a whole repair on a small SQLite database, offline")
                .arg(Arg::new("name").value_name("SCHEDULER").help("Whose story; --list names them"))
                .arg(flag("list", "List the stories there are").conflicts_with_all(["name", "keep"]))
                .arg(path("keep", "DIR", "Leave the database and the bundle in this new directory")),
        )
        .subcommand(inspect(recipes))
        .subcommand(plan(recipes))
        .subcommand(show())
        .subcommands(on_bundles())
        .subcommand(lint())
        .subcommand(upgrade_check())
        .subcommand(manifests())
        .subcommands(tools())
}

/// Whether a command line may have something to do with recipes. The linter, which editors
/// and hooks start for every file, has not.
pub(super) fn takes_recipes(args: &[OsString]) -> bool {
    let bare = command(&Recipes::default()).ignore_errors(true);
    bare.try_get_matches_from(args).map_or(true, |m| m.subcommand_name() != Some("lint"))
}

fn inspect(recipes: &Recipes) -> Command {
    Command::new("inspect")
        .about("Look at a database, read only: release, states, owners, findings")
        .args(looking(recipes))
        .arg(flag("explain", "Explain each row that was found, not only the first of its kind"))
        .arg(text("operator", "NAME", "Who says what is said (default: $USER)"))
        .arg(format())
}

fn plan(recipes: &Recipes) -> Command {
    let recipe = Arg::new("recipe").required_unless_present("all").value_name("RECIPE");
    let except = text("except", "RECIPE", "With --all: without this recipe").action(ArgAction::Append).requires("all");
    let allow = text(
        "allow",
        "RULE=REASON",
        "Plan although flowmend lint finds errors of this rule in the bundle, which then says so with your reason",
    );
    Command::new("plan")
        .about("Plan a repair and write it as a bundle of SQL files; changes nothing")
        .arg(recipe.help("The repair, for example zombie-tasks"))
        .arg(flag("all", "One bundle of every repair that inspect finds").conflicts_with("recipe"))
        .arg(except)
        .args(looking(recipes))
        .arg(path("out", "DIR", "Where to write the bundle (a new directory; default: flowmend-<id>)"))
        .arg(text("work-schema", "SCHEMA", "Put work tables and the ledger into this schema (MySQL: database)"))
        .arg(flag("allow-triggers", "Plan although there are triggers on the target tables"))
        .arg(allow.action(ArgAction::Append))
        .arg(text("operator", "NAME", "Who says what the ticket reports as said (default: $USER)"))
        .arg(format())
}

fn show() -> Command {
    let other = Arg::new("other").value_name("OTHER").value_parser(value_parser!(PathBuf));
    Command::new("show")
        .about("Print a bundle for review, or compare two")
        .arg(dir_arg())
        .arg(other.help("A second bundle to compare with"))
        .arg(signed(text("rows", "N|all", "How many rows of each step to print (default: 5)")))
        .arg(format())
}

/// What is done with a bundle, in the order of a repair.
fn on_bundles() -> [Command; 6] {
    let refused = "Triggers are accepted when a bundle is planned, not here; see plan --allow-triggers";
    [
        on_bundle("rehearse", "Run the repair and its rollback in one transaction, compare, roll back").arg(registry()),
        sealed(on_bundle("apply", "Run a bundle in one transaction with row-count guards"))
            .arg(registry())
            .arg(flag("allow-triggers", refused).hide(true)),
        on_bundle("verify", "Compare live rows with what was written, now or later").arg(format()),
        sealed(on_bundle("rollback", "Undo an applied bundle; refuses if a row moved since"))
            .arg(registry())
            .arg(flag("partial", "Restore only whole runs (or what else the ticket lists) none of whose rows moved. Final: what it leaves can never be rolled back by this bundle"))
            .arg(flag("give-up-rest", "With --partial: go on although rows are left").requires("partial")),
        sealed(on_bundle("clean", "Drop the work and backup tables of a bundle"))
            .arg(flag("give-up-rollback", "Also when the bundle is applied")),
        Command::new("ticket").about("Print the change ticket of a bundle").arg(dir_arg()),
    ]
}

fn lint() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .action(ArgAction::Append)
        .required_unless_present_any(["explain", "rules"])
        .help("SQL scripts, folders of them, or a bundle's folder; - for standard input");
    let form = Arg::new("format")
        .long("format")
        .value_parser(["human", "json", "sarif", "junit", "github"])
        .default_value("human")
        .help("The form of the output");
    // A database is asked only where somebody says so here: not for a variable that is set
    // for other commands.
    let asked = "Take scheduler, release and dialect from this database, and count the rows that each change reaches now; only reads";
    let mut database = database();
    database[0] = text("url", "URL", asked);
    Command::new("lint")
        .about("Check hand-written SQL against the release that it will run on")
        .after_help("Exit codes: 0 nothing, or remarks only · 1 warnings or errors · 2 usage · 4 the database or bundle is refused · 6 database error")
        .arg(file)
        .arg(text("scheduler", "NAME", "The scheduler"))
        .arg(text("release", "VERSION", "Its release"))
        .arg(text("dialect", "NAME", "mysql, mariadb, postgresql or sqlite"))
        .arg(text("table-prefix", "PREFIX", "What the scheduler's table names begin with, where people can choose it"))
        .args(database)
        .arg(path("config", "FILE", "Levels and defaults (default: flowmend.toml, [lint])"))
        .arg(flag("fix", "Print what can be rewritten without judgement, as a diff").conflicts_with("format"))
        .arg(flag("write", "With --fix: write it").requires("fix"))
        .arg(path("output", "FILE", "Write the report into this file").conflicts_with("fix"))
        .arg(form)
        .arg(text("explain", "RULE", "Print the page of a rule").conflicts_with("file"))
        .arg(flag("rules", "List the rules").conflicts_with("file"))
}

fn manifests() -> Command {
    let check = "Check a directory of your own manifests together with the built-in ones";
    let lang = text("lang", "LANG", "json, or sql for a lookup table with CHECKs").value_parser(["json", "sql"]);
    let dialect = text("dialect", "NAME", "With --lang sql: mysql, mariadb, postgresql or sqlite");
    Command::new("manifests")
        .about("Show, compare, check or begin what flowmend knows of schedulers")
        .subcommand_required(true)
        .subcommand(Command::new("list").about("Schedulers, generations and releases").arg(format()))
        .subcommand(
            Command::new("show")
                .about("States, tables, keys and repairs of one release")
                .args([scheduler(), word("release", "RELEASE", "The release")])
                .arg(format_or_markdown()),
        )
        .subcommand(
            Command::new("diff")
                .about("What differs between two releases; exit 1 when something does")
                .args([scheduler(), word("from", "FROM", "One release"), word("to", "TO", "The other")])
                .arg(flag("steps", "Generation by generation, each under the release that brings it"))
                .arg(format_or_markdown()),
        )
        .subcommand(
            Command::new("matrix")
                .about("Every state of every column, release by release")
                .arg(scheduler())
                .arg(format_or_markdown()),
        )
        .subcommand(
            Command::new("export")
                .about("The codes of a release, for a code base")
                .args([scheduler(), word("release", "RELEASE", "The release")])
                .args([lang.required(true), dialect.default_value("postgresql")]),
        )
        .subcommand(
            Command::new("new")
                .about("Begin a manifest for a release that flowmend does not know")
                .arg(scheduler())
                .arg(text("from", "RELEASE", "The known release that it extends").required(true))
                .arg(text("generation", "VERSION", "The first release of the new generation").required(true))
                .arg(path("out", "DIR", "Write DIR/<scheduler>/<generation>.toml (default: print it)")),
        )
        .subcommand(Command::new("check").about(check).arg(dir_arg()))
}

fn scheduler() -> Arg {
    word("scheduler", "SCHEDULER", "The scheduler, as `flowmend manifests list` names it")
}

fn word(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).required(true).help(help)
}

fn upgrade_check() -> Command {
    // A database is asked only where somebody says so here, as for lint.
    let mut database = database();
    database[0] = text("url", "URL", "Count the rows that break in this database; only reads");
    let form = ["human", "json", "sarif", "junit", "markdown"];
    Command::new("upgrade-check")
        .about("What of today's rows, codes, columns and scripts breaks in another release")
        .after_help("Exit codes: 0 nothing, or remarks only · 1 something breaks · 2 usage · 4 the database is refused · 6 database error")
        .arg(text("scheduler", "NAME", "The scheduler").required(true))
        .arg(text("from", "RELEASE", "The release that runs; with --after, that ran").required(true))
        .arg(text("to", "RELEASE", "The release that will run").required(true))
        .args(database)
        .arg(text("table-prefix", "PREFIX", "What the scheduler's table names begin with, where people can choose it"))
        .arg(flag("after", "With --url: the upgrade has run; what is left to repair"))
        .arg(path("sql", "PATH", "Also check this script, or the .sql files below this directory"))
        .arg(text(
            "dialect",
            "NAME",
            "Whose tables and scripts are meant: mysql, mariadb, postgresql or sqlite (default: the database's)",
        ))
        .arg(path("output", "FILE", "Write the report into this file"))
        .arg(format().value_parser(form))
}

fn format_or_markdown() -> Arg {
    format().value_parser(["human", "json", "markdown"])
}

fn tools() -> [Command; 2] {
    let shell = Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell));
    let command = Arg::new("command").value_name("COMMAND").help("The command (default: flowmend itself)");
    [
        Command::new("completions").about("Print shell completions").arg(shell),
        Command::new("man").about("Print the manual page, of flowmend or of one command").arg(command),
    ]
}

fn common() -> Vec<Arg> {
    // Under a heading of their own: what a command itself takes comes first.
    let common = [
        path("enums", "DIR", "Lay the manifests of this directory over the built-in ones")
            .global(true)
            .value_parser(may_be_empty())
            .env("FLOWMEND_ENUMS"),
        path("templates", "DIR", "Lay the recipes of this directory over the built-in ones")
            .global(true)
            .value_parser(may_be_empty())
            .env("FLOWMEND_TEMPLATES"),
        Arg::new("color")
            .long("color")
            .global(true)
            .value_parser(["auto", "always", "never"])
            .default_value("auto")
            .help("When to use colours"),
        Arg::new("verbose")
            .short('v')
            .long("verbose")
            .global(true)
            .action(ArgAction::Count)
            .help("Say more on stderr (-vv: every query)"),
    ];
    common.into_iter().map(|arg| arg.help_heading("Global options")).collect()
}

/// A path that may be empty, as an empty variable is: that is as none.
fn may_be_empty() -> impl clap::builder::TypedValueParser<Value = PathBuf> + use<> {
    clap::builder::OsStringValueParser::new().map(PathBuf::from)
}

fn database() -> Vec<Arg> {
    vec![
        text("url", "URL", "The database: mysql://USER@HOST:PORT/DB, postgres://USER@HOST:PORT/DB or sqlite:FILE; passwords also from ~/.my.cnf, ~/.pgpass, MYSQL_PWD, PGPASSWORD or a prompt")
            .env("FLOWMEND_URL")
            .hide_env_values(true),
        text("schema", "SCHEMA", "The schema of the scheduler's tables (PostgreSQL)"),
        signed(text("timeout", "DURATION", "How long one reading statement may take").default_value("5m")),
    ]
}

fn registry() -> Arg {
    text("registry", "URL", "The registry that shows which owners live: zk://HOST:PORT/NAMESPACE or etcd://USER@HOST:PORT/NAMESPACE; etcds:// for TLS; a password in FLOWMEND_REGISTRY_PASSWORD")
        .env("FLOWMEND_REGISTRY")
        .hide_env_values(true)
}

/// What every look at a database takes: where it is, what it holds, when it is, and the recipes' own flags.
fn looking(recipes: &Recipes) -> Vec<Arg> {
    let mut args = database();
    args.extend([
        registry(),
        text("scheduler", "NAME", "The scheduler, when the schema does not tell"),
        text("release", "VERSION", "The release, when schema and version row do not tell"),
        text(
            "table-prefix",
            "PREFIX",
            "What the scheduler's table names begin with, where people can choose it (default: what upstream ships)",
        )
        .env("FLOWMEND_TABLE_PREFIX")
        .hide_env_values(true),
        signed(text("now", "TIME", "The moment, RFC 3339 (default: the database's clock)")),
        // Half of the world lies west of UTC.
        signed(text("zone", "ZONE", "The zone of the scheduler's clock: Asia/Shanghai or +08:00 (default: measured)"))
            .env("FLOWMEND_ZONE")
            .hide_env_values(true),
    ]);
    args.extend(parameters(recipes));
    args
}

/// What each scheduler's recipes say of a flag.
type Helps<'a> = Vec<(&'a str, &'a str)>;

/// One flag for each parameter that any recipe has.
fn parameters(recipes: &Recipes) -> Vec<Arg> {
    let mut known: BTreeMap<&str, (Parameter, Helps<'_>)> = BTreeMap::new();
    for recipe in recipes.iter() {
        for parameter in &recipe.file.parameters {
            let (first, helps) = known.entry(&parameter.name).or_insert_with(|| (parameter.clone(), Vec::new()));
            // Schedulers give one flag values of their own; each recipe checks its own.
            let new: Vec<String> = parameter.values.iter().filter(|v| !first.values.contains(v)).cloned().collect();
            first.values.extend(new);
            if !helps.iter().any(|(scheduler, _)| *scheduler == recipe.scheduler) {
                helps.push((&recipe.scheduler, &parameter.help));
            }
        }
    }
    let with_help = |(mut parameter, helps): (Parameter, Helps<'_>)| {
        parameter.help = joined_help(&helps);
        parameter
    };
    known.into_values().map(with_help).map(|p| self::parameter(&p)).collect()
}

/// One help for a flag that several schedulers have: what each says, where they differ.
fn joined_help(helps: &[(&str, &str)]) -> String {
    match helps {
        [(_, first), rest @ ..] if rest.iter().all(|(_, help)| help == first) => (*first).to_owned(),
        _ => helps.iter().map(|(scheduler, help)| format!("{scheduler}: {help}")).collect::<Vec<_>>().join(" · "),
    }
}

fn parameter(p: &Parameter) -> Arg {
    let help = p.default.as_ref().map_or(p.help.clone(), |d| format!("{} [default: {d}]", p.help));
    let arg = Arg::new(p.name.clone()).long(p.name.clone()).help(help).help_heading("Recipe parameters");
    match p.kind {
        ParameterKind::Flag => arg.action(ArgAction::SetTrue),
        ParameterKind::Choice => {
            arg.value_name(p.values.join("|")).value_parser(clap::builder::PossibleValuesParser::new(p.values.clone()))
        }
        ParameterKind::Age => signed(arg.value_name("DURATION")),
        ParameterKind::Texts => arg.action(ArgAction::Append).value_name("VALUE"),
        ParameterKind::Numbers => signed(arg.action(ArgAction::Append).value_name("VALUE")),
        ParameterKind::Legacy => arg.action(ArgAction::Append).value_name("COLUMN.CODE=STATE"),
        ParameterKind::Owners | ParameterKind::Names => arg.action(ArgAction::Append).value_name("OWNER"),
    }
}

fn on_bundle(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about).arg(dir_arg()).args(database())
}

fn sealed(command: Command) -> Command {
    command.arg(text("seal", "SEAL", "At least the first 12 characters of the seal that was approved"))
}

fn dir_arg() -> Arg {
    Arg::new("dir").required(true).value_name("DIR").value_parser(value_parser!(PathBuf)).help("The directory")
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// A value that people may write with a minus: where it makes no sense, its reader says so.
fn signed(arg: Arg) -> Arg {
    let present = |value: &str| match value {
        flag if flag.starts_with("--") => Err("the value is missing"),
        value => Ok(value.to_owned()),
    };
    arg.allow_hyphen_values(true).value_parser(present)
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_parser(["human", "json"])
        .default_value("human")
        .help("The form of the output")
}

/// A flag's text, if it was given.
pub(super) fn given<'a>(m: &'a ArgMatches, name: &str) -> Option<&'a str> {
    m.try_get_one::<String>(name).ok().flatten().map(String::as_str)
}

/// A positional or flag path.
pub(super) fn path_of<'a>(m: &'a ArgMatches, name: &str) -> Option<&'a PathBuf> {
    m.try_get_one::<PathBuf>(name).ok().flatten()
}

/// Whether JSON is wanted.
pub(super) fn wants_json(m: &ArgMatches) -> bool {
    given(m, "format") == Some("json")
}

/// The recipe parameters that were given: name → texts.
///
/// # Errors
/// A file of owners that cannot be read.
pub(super) fn recipe_args(recipes: &Recipes, m: &ArgMatches) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for parameter in recipes.iter().flat_map(|r| &r.file.parameters) {
        let name = &parameter.name;
        if parameter.kind == ParameterKind::Flag {
            if m.get_flag(name) {
                found.insert(name.clone(), vec!["yes".to_owned()]);
            }
        } else if let Ok(Some(values)) = m.try_get_many::<String>(name) {
            let values: Vec<String> = values.cloned().collect();
            let owners = parameter.kind.owner_form().is_some();
            found.insert(name.clone(), if owners { from_files(&values)? } else { values });
        }
    }
    Ok(found)
}

/// `@FILE` stands for the lines of a file: an evidence list that can be kept
/// with the ticket. Empty lines and lines that begin with # do not count.
fn from_files(values: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for value in values {
        match value.strip_prefix('@') {
            None => all.push(value.clone()),
            Some(file) => {
                let text = crate::data::read_text(std::path::Path::new(file))?;
                for (number, line) in text.trim_start_matches(BYTE_ORDER_MARK).lines().map(str::trim).enumerate() {
                    let bad = |(why, way_out): (&str, &str)| {
                        Error::usage(format!("{file}, line {}: {why}", number + 1)).hint(way_out)
                    };
                    all.extend(owner_line(line).map_err(bad)?);
                }
            }
        }
    }
    Ok(all)
}

/// What editors of Windows put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The owner that a line of a file names, if it names one; else why not, and the way out.
fn owner_line(line: &str) -> std::result::Result<Option<String>, (&'static str, &'static str)> {
    let host = |c: char| c.is_ascii_alphanumeric() || ".-_:[]@+".contains(c);
    let quoted = |c: char| !c.is_control();
    match line {
        "" => Ok(None),
        comment if comment.starts_with('#') => Ok(None),
        owner if owner.len() < 200 && bare_address(owner).chars().all(host) => Ok(Some(owner.to_owned())),
        owner if owner.starts_with('\'') && owner.chars().all(quoted) => Ok(Some(owner.to_owned())),
        every if every.starts_with('*') => Err((
            "* stands for every owner, and a list names each by itself",
            "if all are stopped, say so on the command line, with '*' in place of the list",
        )),
        // Not the line itself: the file may be another one than was meant.
        _ => Err(("not an owner", "write one owner a line, a name with signs of its own in single quotes")),
    }
}

/// Applies `--color`.
pub(super) fn set_colour(m: &ArgMatches) {
    ui::set_colour(match given(m, "color") {
        Some("always") => anstream::ColorChoice::Always,
        Some("never") => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::Auto,
    });
}

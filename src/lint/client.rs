//! What a client's own command brings in that nobody reads here.

/// What it brings in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Another file with statements.
    File,
    /// What a query returned, as statements.
    Result,
    /// A command of the machine.
    Shell,
    /// A file of rows.
    Rows,
}

/// What a command brings in, if it does.
pub(super) fn client_runs(line: &str) -> Option<Runs> {
    if line.starts_with("\\.") {
        return Some(Runs::File);
    }
    // `\P` of mysql sends what is printed to a command; `\p` shows the statement.
    if line.starts_with("\\!") || line.starts_with("\\P ") {
        return Some(Runs::Shell);
    }
    let mut words = line.trim_start_matches(['\\', '.']).split_whitespace();
    let command = words.next()?.to_ascii_lowercase();
    let words: Vec<&str> = words.collect();
    if is_piped(&command, &words) {
        return Some(Runs::Shell);
    }
    match command.as_str() {
        "i" | "ir" | "include" | "include_relative" | "source" | "read" => Some(Runs::File),
        "gexec" => Some(Runs::Result),
        "system" | "shell" => Some(Runs::Shell),
        "import" => Some(Runs::Rows),
        // `\copy (SELECT … FROM …) TO 'file'` writes a file.
        "copy" => {
            let (table, rest) = words.split_first()?;
            let fills = !table.starts_with('(') && rest.iter().any(|word| word.eq_ignore_ascii_case("from"));
            fills.then_some(Runs::Rows)
        }
        _ => None,
    }
}

/// Whether what is printed goes to a command of the machine, or what is read comes from one.
fn is_piped(command: &str, words: &[&str]) -> bool {
    let pipe = || words.iter().any(|word| word.trim_start_matches(['\'', '"']).starts_with('|'));
    match command {
        "g" | "gx" | "o" | "out" | "w" | "write" | "output" | "once" | "import" | "read" => pipe(),
        "copy" => words.iter().any(|word| word.eq_ignore_ascii_case("program")),
        "pager" => !words.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_bring_in() {
        for (line, wanted) in [
            (r"\i other.sql", Some(Runs::File)),
            ("source other.sql", Some(Runs::File)),
            (".read other.sql", Some(Runs::File)),
            (".read |make-sql", Some(Runs::Shell)),
            (r"\gexec", Some(Runs::Result)),
            (r"\! rm -rf /", Some(Runs::Shell)),
            ("system ls", Some(Runs::Shell)),
            (r"\g | sh", Some(Runs::Shell)),
            (r"\o |sh", Some(Runs::Shell)),
            (r"\g", None),
            (r"\o out.txt", None),
            (".output '|sh'", Some(Runs::Shell)),
            (".output rows.txt", None),
            ("pager less", Some(Runs::Shell)),
            (r"\P less", Some(Runs::Shell)),
            (r"\p", None),
            ("nopager", None),
            (".import rows.csv t", Some(Runs::Rows)),
            (r"\copy t FROM 'rows.csv'", Some(Runs::Rows)),
            (r"\copy t FROM PROGRAM 'make-rows'", Some(Runs::Shell)),
            (r"\copy (SELECT a FROM t) TO 'rows.csv'", None),
            (r"\timing on", None),
        ] {
            assert_eq!(client_runs(line), wanted, "{line}");
        }
    }
}

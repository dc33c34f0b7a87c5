//! The `[client]` group of `~/.my.cnf`: user and password, as MySQL's own clients read them.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::{Error, Result};

/// What the file gives.
#[derive(Default)]
pub(super) struct ClientGroup {
    pub user: Option<String>,
    pub password: Option<SecretString>,
}

/// Reads `~/.my.cnf` if it is there.
pub(super) fn read() -> Result<ClientGroup> {
    let Some(home) = std::env::var_os("HOME") else {
        return Ok(ClientGroup::default());
    };
    let path = PathBuf::from(home).join(".my.cnf");
    if !path.is_file() {
        return Ok(ClientGroup::default());
    }
    refuse_loose_mode(&path)?;
    Ok(parse(&crate::data::read_text(&path)?))
}

#[cfg(unix)]
fn refuse_loose_mode(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map(|m| m.permissions().mode()).unwrap_or(0);
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(Error::usage(format!("{} can be read by others (mode {:o})", path.display(), mode & 0o777))
        .hint(format!("chmod 600 {}", path.display())))
}

#[cfg(not(unix))]
fn refuse_loose_mode(_: &Path) -> Result<()> {
    Ok(())
}

fn parse(text: &str) -> ClientGroup {
    let mut group = ClientGroup::default();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            inside = name == "client";
            continue;
        }
        let line = without_comment(line);
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else {
            continue;
        };
        let value = unquote(value.trim());
        match key.trim() {
            "user" => group.user = Some(value),
            "password" => group.password = Some(SecretString::from(value)),
            _ => {}
        }
    }
    group
}

/// The line up to a `#` outside quotes, where MySQL's own clients see a comment begin.
fn without_comment(line: &str) -> &str {
    if line.starts_with(['#', ';']) {
        return "";
    }
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match c {
            '#' if quote.is_none() => return &line[..at],
            '"' | '\'' if !escaped && quote.is_none_or(|q| q == c) => {
                quote = if quote.is_none() { Some(c) } else { None };
            }
            _ => {}
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
    }
    line
}

/// The value as MySQL's own clients read it: quotes around it go, escapes count.
fn unquote(value: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(value);
    let mut out = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.peek().and_then(|next| escape(*next)) } else { None };
        if escaped.is_some() {
            chars.next();
        }
        out.push(escaped.unwrap_or(c));
    }
    out
}

fn escape(letter: char) -> Option<char> {
    Some(match letter {
        'b' => '\u{8}',
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        's' => ' ',
        '\\' | '"' | '\'' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::parse;

    #[test]
    fn only_the_client_group_counts() {
        let group = parse("[mysqldump]\nuser=x\n[client]\nuser = ann\npassword=\"a#b\"\n[other]\npassword=no\n");
        assert_eq!(group.user.as_deref(), Some("ann"));
        assert_eq!(group.password.unwrap().expose_secret(), "a#b");
        let commented = parse("[client]\n#user=bob\n;user=eve\nuser=ann # the reader\npassword='it#s' # 'x'\n");
        assert_eq!(commented.user.as_deref(), Some("ann"));
        assert_eq!(commented.password.unwrap().expose_secret(), "it#s");
        let escaped = parse("[client]\npassword=\"ro#ecret \\\"1\\\\\"\n");
        assert_eq!(escaped.password.unwrap().expose_secret(), "ro#ecret \"1\\");
    }
}

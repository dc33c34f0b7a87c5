//! Database addresses: read, complete, show without secrets.

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::{Error, Result};

/// Where a database is. `Debug` and `Display` never show the password.
#[derive(Clone, Debug)]
pub struct Address {
    /// `mysql`, `postgresql` or `sqlite`.
    pub scheme: Scheme,
    /// Host, empty for SQLite and sockets.
    pub host: String,
    /// Port, if one is given.
    pub port: Option<u16>,
    /// User, if one is given.
    pub user: Option<String>,
    /// Password, if the address itself holds one.
    pub password: Option<SecretString>,
    /// Database name, or the file of SQLite.
    pub database: String,
    /// Options after the question mark.
    pub options: Vec<(String, String)>,
}

/// The protocol of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite.
    Sqlite,
}

impl Address {
    /// Reads `mysql://user@host:port/database`, `postgres://…` or `sqlite:file`.
    ///
    /// # Errors
    /// The text is no such address. The message never repeats the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            Error::usage(format!("the database address cannot be used: {why}"))
                .hint("write mysql://USER@HOST:PORT/DATABASE, postgres://USER@HOST:PORT/DATABASE or sqlite:FILE")
        };
        if let Some((_, file)) = text.split_once(':').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("sqlite")) {
            let file = file.strip_prefix("//").unwrap_or(file);
            // A question mark begins options only where no file has it in its name.
            let whole = std::path::Path::new(file).is_file();
            let file = if whole { file } else { file.split('?').next().unwrap_or_default() };
            if file.is_empty() || file == ":memory:" {
                return Err(bad("it names no file"));
            }
            return Ok(Self::sqlite(file));
        }
        let (url, hostless) = parse_url(text).map_err(|e| bad(&e.to_string()))?;
        let scheme = match url.scheme() {
            "mysql" | "mariadb" => Scheme::MySql,
            "postgres" | "postgresql" => Scheme::PostgreSql,
            other => return Err(bad(&format!("unknown scheme `{other}`"))),
        };
        let decode = |s: &str| percent_decode(s);
        let database = decode(url.path().trim_start_matches('/'));
        if database.is_empty() {
            return Err(bad("it names no database"));
        }
        if url.path().contains('@') {
            return Err(bad("there is an @ behind the host: write a / in a password as %2F and an @ as %40"));
        }
        Ok(Self {
            scheme,
            host: url.host_str().filter(|_| !hostless).unwrap_or_default().to_owned(),
            port: url.port(),
            user: Some(url.username()).filter(|u| !u.is_empty()).map(decode),
            password: url.password().map(|p| SecretString::from(decode(p))),
            database,
            options: url.query_pairs().map(|(k, v)| (k.into_owned(), v.into_owned())).collect(),
        })
    }

    fn sqlite(file: &str) -> Self {
        Self {
            scheme: Scheme::Sqlite,
            host: String::new(),
            port: None,
            user: None,
            password: None,
            database: file.to_owned(),
            options: Vec::new(),
        }
    }

    /// The password, for the driver only.
    pub(super) fn password_text(&self) -> Option<&str> {
        self.password.as_ref().map(SecretString::expose_secret)
    }

    /// The host as the resolver wants it: an IPv6 address without its brackets.
    #[must_use]
    pub fn host_name(&self) -> &str {
        self.host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(&self.host)
    }

    /// Host and port, empty for a file.
    #[must_use]
    pub fn place(&self) -> String {
        let default = match self.scheme {
            Scheme::MySql => 3306,
            Scheme::PostgreSql => 5432,
            Scheme::Sqlite => return String::new(),
        };
        format!("{}:{}", self.host, self.port.unwrap_or(default))
    }
}

/// The address, and whether it names a user but no host: `postgres://ann@/ds?host=/run/postgresql`,
/// which the standard for URLs refuses and libpq allows.
fn parse_url(text: &str) -> std::result::Result<(Url, bool), url::ParseError> {
    match Url::parse(text) {
        Err(url::ParseError::EmptyHost) => Url::parse(&text.replacen("@/", "@localhost/", 1))
            .map(|url| (url, true))
            .map_err(|_| url::ParseError::EmptyHost),
        parsed => parsed.map(|url| (url, false)),
    }
}

/// The text that a part of an address stands for.
pub(crate) fn percent_decode(text: &str) -> String {
    // `form_urlencoded` also turns `+` into a blank, so protect it first.
    let protected = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    url::form_urlencoded::parse(protected.as_bytes()).next().map(|(_, v)| v.into_owned()).unwrap_or_default()
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = match self.scheme {
            Scheme::MySql => "mysql",
            Scheme::PostgreSql => "postgres",
            Scheme::Sqlite => return write!(f, "sqlite:{}", self.database),
        };
        let user = self.user.as_ref().map(|u| format!("{u}@")).unwrap_or_default();
        let port = self.port.map(|p| format!(":{p}")).unwrap_or_default();
        write!(f, "{scheme}://{user}{}{port}/{}", self.host, self.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        let address = Address::parse("mysql://ann:p%40ss+w@db.example:3307/ds?ssl-mode=disabled").unwrap();
        assert_eq!(address.password_text(), Some("p@ss+w"));
        assert_eq!(address.to_string(), "mysql://ann@db.example:3307/ds");
        assert!(!format!("{address:?}").contains("p@ss"));
        assert_eq!(Address::parse("MySQL://ann@h/ds").unwrap().to_string(), "mysql://ann@h/ds");
        let error = Address::parse("oracle://ann:secret@h/d").unwrap_err();
        assert!(!error.to_string().contains("secret"));
        let error = Address::parse("mysql://ann:secret@h:99999/d").unwrap_err();
        assert!(!error.to_string().contains("secret"));
    }

    #[test]
    fn a_user_at_a_socket() {
        let address = Address::parse("postgres://ann:p%40ss@/ds?host=/run/postgresql").unwrap();
        assert_eq!((address.host.as_str(), address.user.as_deref()), ("", Some("ann")));
        assert_eq!(address.password_text(), Some("p@ss"));
        assert_eq!(address.options, [("host".to_owned(), "/run/postgresql".to_owned())]);
        assert_eq!(address.to_string(), "postgres://ann@/ds");
    }

    #[test]
    fn sqlite_files() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("what?now=1.db");
        std::fs::write(&odd, "").unwrap();
        let odd = odd.to_str().unwrap();
        assert_eq!(Address::parse(&format!("sqlite:{odd}")).unwrap().database, odd);
        assert_eq!(Address::parse("sqlite:a.db?mode=ro").unwrap().database, "a.db");
        assert_eq!(Address::parse("sqlite:///tmp/a.db").unwrap().database, "/tmp/a.db");
        assert_eq!(Address::parse("sqlite:a.db").unwrap().database, "a.db");
        assert_eq!(Address::parse("SQLite:a.db").unwrap().database, "a.db");
        assert!(Address::parse("sqlite:").is_err());
    }
}

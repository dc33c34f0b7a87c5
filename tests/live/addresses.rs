//! Addresses of all forms that the stock clients take lead to the same database.

use super::round::zombies;
use crate::support::db::Server;
use crate::support::program::{Run, flowmend, flowmend_env};
use crate::support::skipped;

/// A local socket, with the user in the address and the password not in it.
#[test]
fn through_a_socket() {
    for server in Server::available("through_a_socket") {
        if server == Server::Sqlite {
            continue;
        }
        let db = zombies(server, "3.1.9");
        let socket = match server {
            Server::PostgreSql => db.value("SHOW unix_socket_directories"),
            _ => db.value("SELECT @@socket"),
        };
        let socket = socket.unwrap_or_default();
        if socket.is_empty() || !std::path::Path::new(&socket).exists() {
            skipped("through_a_socket", &format!("{server:?} has no socket here"));
            continue;
        }
        let url = url::Url::parse(&db.url).unwrap();
        let (user, password) = (url.username(), url.password().unwrap());
        let (name, port) = (url.path(), url.port().unwrap());
        let (addresses, variable) = match server {
            Server::PostgreSql => (
                vec![
                    format!("postgres://{user}@{name}?host={socket}&port={port}"),
                    format!("postgres://{user}@{}:{port}{name}", socket.replace('/', "%2F")),
                ],
                "PGPASSWORD",
            ),
            _ => (vec![format!("mysql://{user}@localhost{name}?socket={socket}")], "MYSQL_PWD"),
        };
        let direct = flowmend(["inspect", "--url", &db.url, "--format", "json"]).expect(1);
        for address in addresses {
            let found = flowmend_env(["inspect", "--url", &address, "--format", "json"], &[(variable, password)]);
            let findings = |run: &Run| serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["findings"].clone();
            assert_eq!(findings(&found.expect(1)), findings(&direct), "{address}");
        }
    }
}

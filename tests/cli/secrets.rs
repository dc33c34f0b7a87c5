//! Secrets reach no output, bundle, receipt or message.

use crate::live::round::zombies;
use crate::support::db::Server;
use crate::support::program::{flowmend, plan, sealed};

fn everything_in(dir: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        text += &if path.is_dir() { everything_in(&path) } else { std::fs::read_to_string(&path).unwrap_or_default() };
    }
    text
}

#[test]
fn no_password_is_written_or_said() {
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if !server.is_there("secrets") {
            continue;
        }
        let db = zombies(server, "3.1.9");
        let password = url::Url::parse(&db.url).unwrap().password().unwrap().to_owned();
        let planned = plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let applied = sealed("apply", &db, "b", &[]).expect(0);
        let looked = flowmend(["-vv", "inspect", "--url", &db.url]);
        let wrong = flowmend(["inspect", "--url", &db.url.replace(&password, "s3cret-and-wrong")]).expect(6);
        for run in [&planned, &applied, &looked, &wrong] {
            assert!(!run.out.contains(&password) && !run.err.contains(&password));
            assert!(!run.out.contains("s3cret") && !run.err.contains("s3cret"), "{}", run.err);
        }
        assert!(!everything_in(&db.path("b")).contains(&password));
    }
}

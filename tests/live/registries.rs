//! Owners in a real ZooKeeper and a real etcd: shown dead, shown alive, or not shown.

use zookeeper_client as zk;

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{flowmend, flowmend_env, plan, sealed};
use crate::support::registry::{Registry, zookeeper};

const MASTERS: &str = "/nodes/master";
/// Who owns the run to repair.
const DEAD: &str = "10.0.0.9:5678";
const ALIVE: &str = "10.0.0.1:5678";

/// A place in a registry that no other test uses.
fn namespace(test: &str) -> String {
    format!("readable-{}-{test}", std::process::id())
}

fn ticket(db: &TestDb, bundle: &str) -> String {
    std::fs::read_to_string(db.path(bundle).join("TICKET.md")).unwrap()
}

/// Runs `inspect` with a registry.
fn inspect(db: &TestDb, url: &str) -> crate::support::program::Run {
    flowmend(["inspect", "--url", &db.url, "--zone", "+00:00", "--registry", url])
}

#[test]
fn who_is_not_listed_is_dead() {
    for registry in Registry::available("who_is_not_listed_is_dead") {
        let (space, db) = (namespace("dead"), zombies(Server::Sqlite, "3.2.2"));
        registry.list(&space, MASTERS, ALIVE);
        let url = registry.url(&space);
        let found = inspect(&db, &url).expect(1);
        let line = |address: &str| found.out.lines().find(|l| l.contains(address)).unwrap_or_default().to_owned();
        assert!(line(DEAD).contains("not in the registry"), "{}", found.out);
        assert!(line(ALIVE).contains("listed in the registry"), "{}", found.out);
        // No word is needed: that is what the registry is named for.
        plan(&db, "b", &["--registry", &url]).expect(0);
        let text = ticket(&db, "b");
        let said = format!("{DEAD}: shown by the registry ");
        assert!(text.contains(&said) && text.contains("at two looks it was not among"), "{text}");
        assert!(text.contains("flowmend apply    THIS_DIRECTORY --url URL --registry REGISTRY"), "{text}");
        assert!(!text.contains(&format!("{ALIVE}: shown")) && !text.contains("tests@"), "{text}");
        // The owner comes back between plan and apply.
        registry.list(&space, MASTERS, DEAD);
        let before = db.dump();
        for command in ["rehearse", "apply"] {
            let dir = db.path("b").display().to_string();
            let refused = match command {
                "apply" => sealed("apply", &db, "b", &["--registry", &url]),
                _ => flowmend(["rehearse", &dir, "--url", &db.url, "--registry", &url]),
            };
            let refused = refused.expect(4);
            assert!(refused.err.contains("is listed at") && refused.err.contains(DEAD), "{}", refused.err);
        }
        assert_eq!(db.dump(), before, "{registry:?}");
        registry.unlist(&space, MASTERS, DEAD);
        sealed("apply", &db, "b", &["--registry", &url]).expect(0);
        // Without the registry it is said that nobody looked again.
        let undone = sealed("rollback", &db, "b", &[]).expect(0);
        assert!(undone.err.contains("give --registry to look again"), "{}", undone.err);
    }
}

#[test]
fn who_is_listed_contradicts_the_operator() {
    for registry in Registry::available("who_is_listed_contradicts_the_operator") {
        let (space, db) = (namespace("alive"), zombies(Server::Sqlite, "3.1.9"));
        registry.list(&space, MASTERS, DEAD);
        let url = registry.url(&space);
        for claim in [DEAD, "10.0.0.9", "*"] {
            let refused = plan(&db, "b", &["--registry", &url, "--dead-owner", claim]).expect(4);
            assert!(refused.err.contains("is listed at") && refused.err.contains(DEAD), "{}", refused.err);
        }
        // What was before its restart is no word about now.
        let before = format!("{DEAD}@2026-11-28T12:00:00");
        plan(&db, "timed", &["--registry", &url, "--dead-owner", &before]).expect(0);
    }
}

#[test]
fn a_registry_without_entries_proves_nothing() {
    for registry in Registry::available("a_registry_without_entries_proves_nothing") {
        let (space, db) = (namespace("empty"), zombies(Server::Sqlite, "3.1.9"));
        let url = registry.url(&space);
        let refused = plan(&db, "b", &["--registry", &url]).expect(4);
        assert!(refused.err.contains("there is no") && refused.err.contains(&space), "{}", refused.err);
        // Nor may a wrong place pass for silence when somebody else spoke.
        plan(&db, "b", &["--registry", &url, "--dead-owner", "*"]).expect(4);
        registry.list(&space, MASTERS, "");
        let refused = plan(&db, "b", &["--registry", &url]).expect(4);
        assert!(refused.err.contains("nobody is listed at"), "{}", refused.err);
        let warned = plan(&db, "b", &["--registry", &url, "--dead-owner", "*"]).expect(0);
        assert!(warned.err.contains("nobody is listed at"), "{}", warned.err);
        // Half of a name is another place.
        registry.list(&space, MASTERS, DEAD);
        let half = registry.url(&space[..space.len() - 1]);
        let refused = plan(&db, "c", &["--registry", &half, "--dead-owner", DEAD]).expect(4);
        assert!(refused.err.contains("there is no"), "{}", refused.err);
    }
}

/// Bare addresses and numbered entries: each release keeps its own form.
#[test]
fn the_forms_of_each_era() {
    if !Registry::ZooKeeper.is_there("the_forms_of_each_era") {
        return;
    }
    for (release, path, alive, dead) in [
        ("1.0.0", "/masters", "10.0.0.1_0000000017", "10.0.0.9"),
        ("1.2.0", "/masters", "10.0.0.1_0000000017", "10.0.0.9"),
        ("1.2.1", "/masters", "10.0.0.1", "10.0.0.9"),
        ("1.3.9", "/nodes/master", ALIVE, DEAD),
        ("2.0.9", "/nodes/master", ALIVE, DEAD),
        ("3.4.1", "/nodes/master", ALIVE, DEAD),
    ] {
        let (space, db) = (namespace(release), zombies(Server::Sqlite, release));
        if !dead.contains(':') {
            let table = flowmend_table(release);
            for (from, to) in [(DEAD, dead), (ALIVE, "10.0.0.1")] {
                db.exec(&format!("UPDATE {table} SET host = '{to}' WHERE host = '{from}'"));
            }
        }
        Registry::ZooKeeper.list(&space, path, alive);
        plan(&db, "b", &["--registry", &Registry::ZooKeeper.url(&space), "--release", release]).expect(0);
        let text = ticket(&db, "b");
        assert!(text.contains(&format!("- {dead}: shown by the registry")), "{release}: {text}");
        assert!(!text.contains("10.0.0.1: shown") && !text.contains("10.0.0.1:5678: shown"), "{release}: {text}");
    }
}

/// The runs' table of a release.
fn flowmend_table(release: &str) -> String {
    crate::support::fixture::manifest(release).role("workflow_instance").unwrap().table.clone()
}

#[test]
fn over_tls() {
    if !Registry::Etcd.is_there("over_tls") {
        return;
    }
    let (space, db) = (namespace("tls"), zombies(Server::Sqlite, "3.1.9"));
    Registry::Etcd.list(&space, MASTERS, ALIVE);
    let (place, ca) = (std::env::var("FLOWMEND_TEST_ETCD_TLS").unwrap(), std::env::var("FLOWMEND_TEST_CA").unwrap());
    let url = format!("etcds://root:r00t%40tests@{place}/{space}");
    plan(&db, "b", &["--registry", &format!("{url}?ca={ca}")]).expect(0);
    // A certificate that nobody vouches for is not taken.
    let unknown = plan(&db, "c", &["--registry", &url]).expect(6);
    assert!(unknown.err.contains("certificate"), "{}", unknown.err);
    let missing = plan(&db, "c", &["--registry", &format!("{url}?ca=/nothing.pem")]).expect(2);
    assert!(missing.err.contains("/nothing.pem"), "{}", missing.err);
}

#[test]
fn logins_and_their_secrets() {
    let (space, db) = (namespace("login"), zombies(Server::Sqlite, "3.1.9"));
    if Registry::Etcd.is_there("logins_and_their_secrets") {
        Registry::Etcd.list(&space, MASTERS, ALIVE);
        let place = Registry::Etcd.place();
        for (login, code) in [("", 4), ("reader:wr0ng@", 4), ("reader:r3ad%2Fer@", 0)] {
            let url = format!("etcd://{login}{place}/{space}");
            let run = plan(&db, &format!("e{code}"), &["--registry", &url]);
            assert!(!run.err.contains("wr0ng") && !run.err.contains("r3ad"), "{}", run.err);
            assert_eq!(run.code, code, "{login}: {}", run.err);
        }
        // Not on the command line at all.
        let run = |password: &str| {
            let url = format!("etcd://reader@{place}/{space}");
            let args = ["inspect", "--url", &db.url, "--zone", "+00:00"];
            flowmend_env(args, &[("FLOWMEND_REGISTRY", &url), ("FLOWMEND_REGISTRY_PASSWORD", password)])
        };
        run("r3ad/er").expect(1);
        let refused = run("wr0ng").expect(4);
        assert!(!refused.err.contains("wr0ng"), "{}", refused.err);
    }
    if Registry::ZooKeeper.is_there("logins_and_their_secrets") {
        Registry::ZooKeeper.list(&space, MASTERS, ALIVE);
        let full = format!("/{space}{MASTERS}");
        zookeeper(async |client| {
            client.auth("digest", b"ds:s3cret").await.unwrap();
            let only = zk::Acls::creator_all();
            client.set_acl(&full, &only, None).await.unwrap();
        });
        let place = Registry::ZooKeeper.place();
        for (login, code) in [("", 4), ("ds:wr0ng@", 4), ("ds:s3cret@", 0)] {
            let run = plan(&db, &format!("z{code}"), &["--registry", &format!("zk://{login}{place}/{space}")]);
            assert!(!run.err.contains("wr0ng") && !run.err.contains("s3cret"), "{}", run.err);
            assert_eq!(run.code, code, "{login}: {}", run.err);
        }
    }
}

#[test]
fn what_cannot_be_asked() {
    let db = zombies(Server::Sqlite, "3.0.6");
    let refused = plan(&db, "b", &["--registry", "etcd://127.0.0.1:1/ds"]).expect(2);
    assert!(refused.err.contains("keeps no registry in etcd; flowmend knows of: ZooKeeper"), "{}", refused.err);
    for url in ["zk://127.0.0.1:1/ds", "zk://127.0.0.1:1,127.0.0.1:2/ds"] {
        let unreachable = plan(&db, "b", &["--registry", url]).expect(6);
        assert!(unreachable.err.contains("does not answer"), "{}", unreachable.err);
    }
    let unreachable = plan(&zombies(Server::Sqlite, "3.1.9"), "b", &["--registry", "etcd://127.0.0.1:1/ds"]).expect(6);
    assert!(unreachable.err.contains("does not answer"), "{}", unreachable.err);
    let wrong = plan(&db, "b", &["--registry", "zk://ann:s3cret@a:99999"]).expect(2);
    assert!(wrong.err.contains("zk://HOST:PORT") && !wrong.err.contains("s3cret"), "{}", wrong.err);
    let wrong = plan(&db, "b", &["--registry", "zks://127.0.0.1:1/ds"]).expect(2);
    assert!(wrong.err.contains("without TLS only"), "{}", wrong.err);
}

/// One ensemble serves several clusters: a namespace that lists nobody of this database shows nothing.
#[test]
fn another_clusters_registry_proves_nothing() {
    for registry in Registry::available("another_clusters_registry_proves_nothing") {
        let (space, db) = (namespace("other"), zombies(Server::Sqlite, "3.1.9"));
        registry.list(&space, MASTERS, "ds-master-1:5678");
        let refused = plan(&db, "b", &["--registry", &registry.url(&space)]).expect(4);
        assert!(refused.err.contains("another cluster's"), "{}", refused.err);
    }
}

/// A row's text is no word of the operator's, whatever it looks like.
#[test]
fn what_a_row_holds_is_no_claim() {
    for registry in Registry::available("what_a_row_holds_is_no_claim") {
        let space = namespace("odd");
        registry.list(&space, MASTERS, ALIVE);
        for odd in
            ["10.0.0.1:5678@2099-01-01T00:00:00", "*", "x'y:1", "@/etc/hostname", "10.0.0.9:99999", "10.0.0.1:05678"]
        {
            let db = zombies(Server::Sqlite, "3.1.9");
            db.exec(&format!("UPDATE t_ds_process_instance SET host = '{}' WHERE id = 2", odd.replace('\'', "''")));
            let run = plan(&db, "b", &["--registry", &registry.url(&space)]).expect(0);
            assert!(run.err.contains("is no host with a port"), "{odd}: {}", run.err);
            let text = ticket(&db, "b");
            assert!(!text.contains("2099") && !text.contains("every owner"), "{odd}: {text}");
            let planned = std::fs::read_to_string(db.path("b").join("plan.toml")).unwrap();
            assert_eq!(planned.matches("\nhost = ").count(), 1 + planned.matches("[[hosts]]").count(), "{odd}");
        }
    }
}

/// Addresses are compared whole, also where a collation takes letters for equal.
#[test]
fn letters_are_not_taken_for_equal() {
    let server = Server::MariaDb;
    if !server.is_there("letters_are_not_taken_for_equal") {
        return;
    }
    let db = zombies(server, "2.0.9");
    db.exec(
        "ALTER TABLE t_ds_process_instance MODIFY host varchar(135) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    );
    db.exec("UPDATE t_ds_process_instance SET host = 'Master-A:5678' WHERE id = 1");
    for claim in ["master-a:5678", "master-a"] {
        let run = plan(&db, "b", &["--dead-owner", claim]);
        assert!(run.err.contains("no unfinished row names the owner"), "{claim}: {}", run.err);
        let named = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap_or_default();
        assert!(!named.contains("Master-A"), "{claim}: {named}");
        let _ = std::fs::remove_dir_all(db.path("b"));
    }
    plan(&db, "b", &["--dead-owner", "Master-A"]).expect(0);
}

/// An answer that breaks off, or is not etcd's, must not pass for "nobody is listed".
#[test]
fn half_an_answer_is_no_answer() {
    use std::io::{Read as _, Write as _};
    let db = zombies(Server::Sqlite, "3.1.9");
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"header\":{},\"kvs\":[",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>",
    ] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("etcd://{}/ds", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        });
        let run = plan(&db, "b", &["--registry", &url, "--dead-owner", DEAD]).expect(6);
        assert!(run.err.contains("does not answer"), "{}", run.err);
        server.join().unwrap();
    }
}

/// A login that the registry does not ask for is no hindrance.
#[test]
fn a_registry_without_logins_is_read() {
    use std::io::{Read as _, Write as _};
    let db = zombies(Server::Sqlite, "3.1.9");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("etcd://ann:s3cret@{}/ds", listener.local_addr().unwrap());
    let answers = [
        ("412 Precondition Failed", r#"{"error":"etcdserver: authentication is not enabled","code":9}"#),
        // ds/nodes/master/10.0.0.9:5678
        ("200 OK", r#"{"header":{},"kvs":[{"key":"ZHMvbm9kZXMvbWFzdGVyLzEwLjAuMC45OjU2Nzg="}],"count":"1"}"#),
    ];
    let server = std::thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        }
    });
    let refused = plan(&db, "b", &["--registry", &url, "--dead-owner", DEAD]).expect(4);
    assert!(refused.err.contains("is listed at") && refused.err.contains(DEAD), "{}", refused.err);
    server.join().unwrap();
}

//! Logins: the ticket's GRANTs are enough, less is refused with the reason, and
//! work tables can lie where the scheduler's login may not create any.

use super::round::zombies;
use crate::support::bundle::runner;
use crate::support::db::{Server, TestDb, same};
use crate::support::program::{on_bundle, plan, sealed};
use crate::support::quartz;

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];
const PASSWORD: &str = "fm-Test-1";

/// A database that is spoken to through a login of its own.
struct Operated {
    db: Option<TestDb>,
    admin: String,
    user: String,
    work: Option<String>,
}

impl Operated {
    /// A planned bundle `b`, and a login with nothing but the right to connect.
    fn new(server: Server, release: &str, work_schema: bool) -> Self {
        let db = zombies(server, release);
        let work = work_schema.then(|| format!("{}_work", db.name));
        if let Some(work) = &work {
            let what = if server == Server::PostgreSql { "SCHEMA" } else { "DATABASE" };
            db.exec(&format!("CREATE {what} {work}"));
        }
        let extra = work.iter().flat_map(|w| ["--work-schema", w]).collect::<Vec<_>>();
        plan(&db, "b", &[DEAD, &extra].concat()).expect(0);
        Self::of(db, work)
    }

    /// A login for a database with a planned bundle `b`.
    fn of(mut db: TestDb, work: Option<String>) -> Self {
        let (server, user) = (db.server, format!("{}_u", db.name));
        db.exec(&match server {
            Server::PostgreSql => format!("CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'"),
            _ => format!("CREATE USER '{user}'@'%' IDENTIFIED BY '{PASSWORD}'"),
        });
        let admin = db.url.clone();
        let mut url = url::Url::parse(&admin).unwrap();
        url.set_username(&user).unwrap();
        url.set_password(Some(PASSWORD)).unwrap();
        db.url = url.to_string();
        Self { db: Some(db), admin, user, work }
    }

    fn db(&self) -> &TestDb {
        self.db.as_ref().unwrap()
    }

    /// Runs statements as the administrator.
    fn admin(&mut self, statements: &[String]) {
        let db = self.db.as_mut().unwrap();
        let login = std::mem::replace(&mut db.url, self.admin.clone());
        db.exec_all(statements);
        db.url = login;
    }

    /// The ticket's GRANTs for this login.
    fn ticket(&self) -> Vec<String> {
        let ticket = std::fs::read_to_string(self.db().path("b").join("TICKET.md")).unwrap();
        let name =
            if self.db().server == Server::PostgreSql { self.user.clone() } else { format!("'{}'@'%'", self.user) };
        let grants = ticket
            .lines()
            .filter(|l| l.starts_with("GRANT "))
            .map(|l| l.split(';').next().unwrap().replace("OPERATOR", &name));
        let grants: Vec<String> = grants.collect();
        assert!(grants.len() > 3, "{ticket}");
        grants
    }

    fn grant(&mut self, keep: impl Fn(&str) -> bool) {
        let grants: Vec<String> = self.ticket().into_iter().filter(|g| keep(g)).collect();
        self.admin(&grants);
    }
}

impl Drop for Operated {
    fn drop(&mut self) {
        let db = self.db.take().unwrap();
        let (server, name) = (db.server, db.name.clone());
        drop(db);
        // The database is gone, so speak to the administrator's own.
        let admin = server.variable().and_then(|v| std::env::var(v).ok());
        let mut statements = vec![match server {
            Server::PostgreSql => format!("DROP ROLE {}", self.user),
            _ => format!("DROP USER '{}'@'%'", self.user),
        }];
        if let (Some(work), true) = (&self.work, server != Server::PostgreSql) {
            assert!(work.starts_with(&name));
            statements.push(format!("DROP DATABASE {work}"));
        }
        if let Some(admin) = admin {
            crate::support::db::run_on(&admin, &statements);
        }
    }
}

fn servers(what: &str) -> Vec<Server> {
    [Server::MariaDb, Server::PostgreSql, Server::MySql].into_iter().filter(|s| s.is_there(what)).collect()
}

/// The whole road with a login that may do what the ticket says and no more.
fn whole_road(operated: &Operated) {
    let db = operated.db();
    let fresh = db.dump();
    on_bundle("rehearse", db, "b").expect(0);
    same(&db.dump(), &fresh, "rehearsed");
    sealed("apply", db, "b", &[]).expect(0);
    on_bundle("verify", db, "b").expect(0);
    sealed("rollback", db, "b", &[]).expect(0);
    on_bundle("verify", db, "b").expect(0);
    same(&db.dump(), &fresh, "rolled back");
    sealed("clean", db, "b", &[]).expect(0);
}

#[test]
fn the_tickets_grants_are_enough() {
    for server in servers("the_tickets_grants_are_enough") {
        for release in ["3.1.9", "3.4.0"] {
            let mut operated = Operated::new(server, release, false);
            operated.grant(|_| true);
            whole_road(&operated);
        }
    }
}

#[test]
fn the_tickets_grants_are_enough_for_the_stock_client() {
    for server in servers("the_tickets_grants_are_enough_for_the_stock_client") {
        let mut operated = Operated::new(server, "3.1.9", false);
        operated.grant(|_| true);
        let db = operated.db();
        for what in ["apply", "rollback"] {
            let output = db.stock(&runner(db, "b", what));
            assert!(output.status.success(), "{server:?} {}", String::from_utf8_lossy(&output.stderr));
        }
        on_bundle("verify", db, "b").expect(0);
    }
}

/// A login for a store whose scheduler locks rows before it writes.
fn with_lock_rows(server: Server) -> Operated {
    let db = quartz::store(server, &quartz::manifest(quartz::RELEASE), &["S1"]);
    quartz::plan(&db, &[]).expect(0);
    Operated::of(db, None)
}

#[test]
fn the_tickets_grants_are_enough_to_lock_rows() {
    for server in servers("the_tickets_grants_are_enough_to_lock_rows") {
        let mut operated = with_lock_rows(server);
        operated.grant(|_| true);
        whole_road(&operated);
    }
}

/// Where locking a row wants a privilege of its own, it is missed before anything is changed.
#[test]
fn locking_rows_wants_its_grant() {
    for server in servers("locking_rows_wants_its_grant") {
        let mut operated = with_lock_rows(server);
        operated.grant(|grant| !grant.to_uppercase().contains("QRTZ_LOCKS"));
        let before = operated.db().dump();
        let run = sealed("apply", operated.db(), "b", &[]);
        if server == Server::MariaDb {
            run.expect(0);
            continue;
        }
        let run = run.expect(6);
        assert!(run.err.contains("01_preflight.locks") && run.err.contains("denied"), "{server:?}: {}", run.err);
        same(&operated.db().dump(), &before, "no grant, no change");
    }
}

#[test]
fn work_tables_beside_the_schedulers() {
    for server in servers("work_tables_beside_the_schedulers") {
        for release in ["3.1.9", "3.4.0"] {
            let mut operated = Operated::new(server, release, true);
            operated.grant(|_| true);
            // The login may not create anything beside the scheduler's tables.
            let own = match server {
                Server::PostgreSql => "public".to_owned(),
                _ => operated.db().name.clone(),
            };
            let mut session = crate::support::db::Session::new(operated.db());
            assert!(session.rows(&format!("CREATE TABLE {own}.x (id int)")).is_err(), "{server:?}");
            drop(session);
            whole_road(&operated);
            let db = operated.db();
            let sql = match server {
                Server::PostgreSql => {
                    "SELECT COUNT(*)::text FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'flowmend%'"
                }
                _ => {
                    "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'flowmend%'"
                }
            };
            assert_eq!(db.value(sql).as_deref(), Some("0"), "{server:?}");
        }
    }
}

/// One privilege less, and apply says so and changes nothing.
#[test]
fn a_missing_privilege_is_named() {
    for server in servers("a_missing_privilege_is_named") {
        for (missing, code) in [("UPDATE ON", &[4, 6][..]), ("CREATE", &[4, 6])] {
            let mut operated = Operated::new(server, "3.1.9", false);
            let table = |g: &str| g.contains("UPDATE") && g.contains("t_ds_task_instance");
            operated.grant(|g| if missing == "CREATE" { !g.contains("CREATE") } else { !table(g) });
            let db = operated.db();
            let rows = db.dump();
            let run = sealed("apply", db, "b", &[]);
            assert!(code.contains(&run.code), "{server:?} without {missing}: {} {}", run.code, run.err);
            assert!(run.err.contains("privilege"), "{server:?} without {missing}: {}", run.err);
            assert!(run.err.contains("denied"), "{server:?} without {missing}: {}", run.err);
            same(&db.dump(), &rows, "no privilege");
            assert!(!db.stock(&runner(db, "b", "apply")).status.success());
            same(&db.dump(), &rows, "no privilege, stock client");
        }
    }
}

/// A policy hides the queued command, so no guard could count it.
#[test]
fn row_security_is_refused() {
    if !Server::PostgreSql.is_there("row_security_is_refused") {
        return;
    }
    let mut operated = Operated::new(Server::PostgreSql, "3.1.9", false);
    operated.grant(|_| true);
    operated.admin(&["ALTER TABLE t_ds_command ENABLE ROW LEVEL SECURITY".to_owned()]);
    let run = sealed("apply", operated.db(), "b", &[]).expect(4);
    assert!(run.err.contains("row security may hide rows of t_ds_command"), "{}", run.err);
    // The owner of the tables sees every row.
    let db = operated.db.as_mut().unwrap();
    db.url.clone_from(&operated.admin);
    sealed("apply", db, "b", &[]).expect(0);
}

/// What a login may not see looks as if it were missing: it is not called so.
#[test]
fn hidden_tables_are_not_missing() {
    for server in servers("hidden_tables_are_not_missing") {
        let mut operated = Operated::new(server, "3.1.9", false);
        let (database, user) = (operated.db().name.clone(), operated.user.clone());
        if server != Server::PostgreSql {
            operated.admin(&[format!("GRANT SELECT ON {database}.t_ds_task_instance TO '{user}'@'%'")]);
        }
        let ask = |operated: &Operated| {
            let url = operated.db().url.clone();
            crate::support::program::flowmend([
                "upgrade-check",
                "--scheduler",
                "dolphinscheduler",
                "--from",
                "3.1.9",
                "--to",
                "3.2.0",
                "--url",
                &url,
            ])
        };
        let run = ask(&operated);
        assert!(run.code == 4 || run.code == 6, "{server:?}: {run:?}");
        assert!(run.err.contains("GRANT SELECT") && !run.out.contains("is missing"), "{server:?}: {run:?}");
        let grant = match server {
            Server::PostgreSql => format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}"),
            _ => format!("GRANT SELECT ON {database}.* TO '{user}'@'%'"),
        };
        operated.admin(&[grant]);
        let run = ask(&operated);
        assert!(run.code < 2, "{server:?}: {run:?}");
    }
}

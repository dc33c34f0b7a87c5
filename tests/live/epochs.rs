//! Times as milliseconds since the epoch: compared without a zone, shown in UTC; and what
//! heartbeats say of the scheduler's clock beside the database's.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::db::Server;
use crate::support::nodes::{LONG_AGO_MS, Store};

const SERVERS: [Server; 3] = [Server::Sqlite, Server::MariaDb, Server::PostgreSql];
/// 2023-11-14 23:20:00 UTC; the other trigger was fired at 22:13:20.
const LATER_MS: &str = "1700004000000";
const NOW: &str = "2023-11-14T23:30:00Z";

#[test]
fn an_age_and_a_time_are_compared_with_milliseconds() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("an_age_and_a_time_are_compared_with_milliseconds")) {
        let store = Store::new(server);
        store.node("S", "other", LONG_AGO_MS);
        store.trigger("S", "early", "ACQUIRED").fired("S", "n@1", "early");
        store.trigger("S", "late", "ACQUIRED").fired_at("S", "n@1", "late", LATER_MS);
        let planned = |bundle: &str, extra: &[&str]| {
            store.plan_at(NOW, "dead-instances", bundle, extra).expect(0);
            let plan = std::fs::read_to_string(store.db.path(bundle).join("plan.toml")).unwrap();
            let step =
                plan.split("[[steps]]").skip(1).find(|s| s.contains("role = \"fired_trigger\"")).unwrap().to_owned();
            (["early", "late"].map(|name| step.contains(&format!("n@1-{name}"))), store.ticket(bundle))
        };
        let owner = "n@1";
        assert_eq!(planned("both", &["--dead-owner", owner]).0, [true, true], "{server:?}");
        let (rows, ticket) = planned("age", &["--dead-owner", owner, "--older-than", "1h"]);
        assert_eq!(rows, [true, false], "{server:?}");
        assert!(ticket.contains("too-young"), "{server:?}: {ticket}");
        for (bundle, time) in
            [("utc", "2023-11-14T22:30:00"), ("z", "2023-11-14T22:30:00Z"), ("east", "2023-11-15T06:30:00+08:00")]
        {
            let (rows, ticket) = planned(bundle, &["--dead-owner", &format!("{owner}@{time}")]);
            assert_eq!(rows, [true, false], "{server:?} {time}");
            assert!(ticket.contains("owner-with-time"), "{server:?}: {ticket}");
        }
        let shown = store.inspect(&["--explain", "--dead-owner", owner]);
        let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("since 1700004000000 (2023-11-14 23:20:00Z)"), "{server:?}: {text}");
        assert!(text.contains("'S'/'n@1' 2 2023-11-14 22:13:20Z"), "{server:?}: {text}");
        let east = store.inspect(&["--zone", "+08:00"]).expect(2);
        assert!(east.err.contains("writes every time in UTC"), "{}", east.err);
    }
}

#[test]
fn the_clock_beside_the_databases() {
    let ms = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap().as_millis().to_string();
    let now = SystemTime::now;
    for server in SERVERS.into_iter().filter(|s| s.is_there("the_clock_beside_the_databases")) {
        let store = Store::new(server);
        store.node("S", "slow", LONG_AGO_MS);
        let look = || {
            let run = store.inspect(&[]);
            run.out.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(
            look().contains("days behind the database's clock: nothing beats, or its clock is behind"),
            "{server:?}: {}",
            look()
        );
        store.node("S", "right", &ms(now() + Duration::from_secs(1)));
        assert!(look().contains("it agrees with the database's clock to"), "{server:?}: {}", look());
        store.node("S", "fast", &ms(now() + Duration::from_secs(600)));
        let fast = look();
        assert!(fast.contains("min ahead of the database's: the newest heartbeat ('S'/'fast'"), "{server:?}: {fast}");
        assert!(fast.contains("warning: ages count from the database's clock"), "{server:?}: {fast}");
    }
}

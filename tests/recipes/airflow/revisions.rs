//! The version row is a schema revision, which several releases share.

use super::{Night, inspect, plan};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

#[test]
fn a_revision_names_its_releases() {
    let m = manifest_of("airflow", "2.10.5");
    let db = Night::new(Server::Sqlite, &m).done();
    let seen = flowmend(["inspect", "--url", &db.url, "--format", "json"]).expect(0);
    let report: serde_json::Value = serde_json::from_str(&seen.out).unwrap();
    assert_eq!(report["release"], "2.10.3 to 2.11.2");
    assert_eq!(report["identified_by"], "schema and its revision (5f2621c13b39)");
    assert_eq!(inspect(&db, "2.10.5", &[])["warnings"].as_array().unwrap().len(), 0);
}

/// A set of revisions is what no release has: an upgrade stopped half way.
#[test]
fn several_revisions_are_all_read() {
    let m = manifest_of("airflow", "2.10.5");
    let db = Night::new(Server::Sqlite, &m).done();
    db.exec("INSERT INTO alembic_version (version_num) VALUES ('004c1210f153')");
    let refused = flowmend(["inspect", "--url", &db.url]).expect(4);
    assert!(refused.err.contains("the schema revision is 004c1210f153 and 5f2621c13b39"), "{}", refused.err);
    let told = plan(&db, "2.10.5", "stale-jobs", &["--older-than", "1h"]);
    assert!(
        told.out.contains("the schema revision is") || told.err.contains("the schema revision is"),
        "{}{}",
        told.out,
        told.err
    );
}

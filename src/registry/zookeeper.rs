//! ZooKeeper.

use std::collections::BTreeSet;
use std::time::Duration;

use zookeeper_client as zk;

use super::{Address, PATIENCE, nothing_there};
use crate::{Error, Result};

/// The session outlives one question only.
const SESSION: Duration = Duration::from_secs(6);

pub(super) async fn children(address: &Address, namespace: &str, path: &str) -> Result<BTreeSet<String>> {
    let root = format!("/{}", namespace.trim_start_matches('/'));
    match tokio::time::timeout(PATIENCE, ask(address, &format!("{root}{path}"))).await {
        Err(_) => Err(unreachable(address, &zk::Error::Timeout)),
        Ok(Err(zk::Error::NoNode)) => Err(nothing_there(address, &format!("{root}{path}"))),
        Ok(Err(error @ (zk::Error::NoAuth | zk::Error::AuthFailed))) => {
            Err(Error::refused(format!("the registry {address} does not let this login read {root}{path}: {error}"))
                .hint("name a login that may: zk://USER@HOST:PORT, its password in FLOWMEND_REGISTRY_PASSWORD"))
        }
        Ok(Err(error)) => Err(unreachable(address, &error)),
        Ok(Ok(names)) => Ok(names.into_iter().collect()),
    }
}

async fn ask(address: &Address, path: &str) -> std::result::Result<Vec<String>, zk::Error> {
    // A server that has lost the others may still answer a reader, with what was
    // true some time ago: `readonly` stays off.
    let mut connector =
        zk::Client::connector().with_session_timeout(SESSION).with_connection_timeout(SESSION).with_fail_eagerly();
    if let Some(user) = &address.user {
        let login = format!("{user}:{}", address.password_text().unwrap_or_default());
        connector = connector.with_auth("digest", login.as_bytes());
    }
    let servers = address.servers.join(",");
    let client = connector.connect(&servers).await?;
    // What one server shows may be behind the others; after a sync it is not.
    client.sync(path).await?;
    client.list_children(path).await
}

fn unreachable(address: &Address, error: &zk::Error) -> Error {
    Error::database(format!("the registry {address} does not answer: {error}"))
        .hint("is the address right, and is one of its servers up?")
}

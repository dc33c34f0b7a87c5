//! Registries outside the database, in which schedulers list who is alive. Read only.

mod address;
mod etcd;
mod zookeeper;

use std::collections::BTreeSet;
use std::time::Duration;

pub use address::Address;

use crate::manifest::RegistryKind;
use crate::{Error, Result};

/// How long one question may take, over all servers of the registry.
const PATIENCE: Duration = Duration::from_secs(15);

/// The names directly below a path, `namespace` before it.
///
/// # Errors
/// The registry does not answer, refuses, or has nothing at all under the namespace.
pub async fn children(address: &Address, namespace: &str, path: &str) -> Result<BTreeSet<String>> {
    match address.kind {
        RegistryKind::ZooKeeper => zookeeper::children(address, namespace, path).await,
        RegistryKind::Etcd => {
            let (address, namespace, path) = (address.clone(), namespace.to_owned(), path.to_owned());
            let asked = tokio::task::spawn_blocking(move || etcd::children(&address, &namespace, &path)).await;
            asked.map_err(|e| Error::internal(format!("the question to the registry broke off: {e}")))?
        }
    }
}

/// Nothing is there: most likely the wrong place was named.
fn nothing_there(address: &Address, namespace: &str) -> Error {
    Error::refused(format!("there is no `{namespace}` in the registry {address}, so it shows nothing"))
        .hint("look up the namespace in the scheduler's configuration and name it: HOST:PORT/NAMESPACE")
}

/// A file that the address names.
fn pem(what: &str, path: &str) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|e| Error::usage(format!("--registry: the {what} {path} cannot be read: {e}")))
}

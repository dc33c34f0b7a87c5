//! Real registries: names that tests put in and take out.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use zookeeper_client as zk;

/// A product the tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    ZooKeeper,
    Etcd,
}

/// Who may do everything in the tests' etcd, and who may only read below `/readable`.
pub const ROOT: (&str, &str) = ("root", "r00t@tests");
pub const READER: (&str, &str) = ("reader", "r3ad/er");

impl Registry {
    /// The products that are there, noting those that are not.
    pub fn available(what: &str) -> Vec<Self> {
        [Self::ZooKeeper, Self::Etcd].into_iter().filter(|r| r.is_there(what)).collect()
    }

    pub fn is_there(self, what: &str) -> bool {
        if std::env::var_os(self.variable()).is_some() {
            return true;
        }
        super::skipped(what, &format!("no {self:?} ({} is not set)", self.variable()));
        false
    }

    fn variable(self) -> &'static str {
        match self {
            Self::ZooKeeper => "FLOWMEND_TEST_ZOOKEEPER",
            Self::Etcd => "FLOWMEND_TEST_ETCD",
        }
    }

    /// `host:port`.
    pub fn place(self) -> String {
        std::env::var(self.variable()).unwrap()
    }

    /// The address for `--registry`, with a login where the product wants one.
    pub fn url(self, namespace: &str) -> String {
        match self {
            Self::ZooKeeper => format!("zk://{}/{namespace}", self.place()),
            Self::Etcd => {
                // On a new server nobody has switched logins on yet.
                etcd_login();
                format!("etcd://root:r00t%40tests@{}/{namespace}", self.place())
            }
        }
    }

    /// Puts a name in. `path` begins with a slash; an empty name makes only the place.
    pub fn list(self, namespace: &str, path: &str, name: &str) {
        match self {
            Self::ZooKeeper => {
                let full = format!("/{namespace}{path}/{name}");
                zookeeper(async |client| {
                    let open = zk::CreateMode::Persistent.with_acls(zk::Acls::anyone_all());
                    client.mkdir(full.trim_end_matches('/'), &open).await.unwrap();
                });
            }
            Self::Etcd if name.is_empty() => {
                // There are no empty places in etcd; a lock stands for the life of a cluster.
                etcd_put(&format!("{namespace}/lock/x"));
            }
            Self::Etcd => etcd_put(&format!("{namespace}{path}/{name}")),
        }
    }

    /// Takes a name out.
    pub fn unlist(self, namespace: &str, path: &str, name: &str) {
        match self {
            Self::ZooKeeper => {
                let full = format!("/{namespace}{path}/{name}");
                zookeeper(async |client| client.delete(&full, None).await.unwrap());
            }
            Self::Etcd => {
                let key = format!("{namespace}{path}/{name}");
                etcd(&json!({ "key": BASE64.encode(key) }), "kv/deleterange");
            }
        }
    }
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// Does something with a client of ZooKeeper.
pub fn zookeeper(work: impl AsyncFnOnce(&zk::Client)) {
    runtime().block_on(async {
        let client = zk::Client::connect(&Registry::ZooKeeper.place()).await.unwrap();
        work(&client).await;
    });
}

fn etcd_put(key: &str) {
    etcd(&json!({ "key": BASE64.encode(key), "value": BASE64.encode("{}") }), "kv/put");
}

fn etcd(question: &Value, method: &str) -> Value {
    let token = etcd_login();
    post(method, Some(&token), question).unwrap()
}

/// Switches logins on, once, and gives the token of the one who may do everything.
fn etcd_login() -> String {
    static ONCE: OnceLock<()> = OnceLock::new();
    let login = || post("auth/authenticate", None, &json!({ "name": ROOT.0, "password": ROOT.1 }));
    ONCE.get_or_init(|| {
        if login().is_some() {
            return;
        }
        let ask = |method: &str, question: Value| assert!(post(method, None, &question).is_some(), "{method}");
        ask("auth/role/add", json!({ "name": "root" }));
        ask("auth/role/add", json!({ "name": "reads" }));
        let (from, to) = (BASE64.encode("readable"), BASE64.encode("readablf"));
        let permission = json!({ "permType": "READ", "key": from, "range_end": to });
        ask("auth/role/grant", json!({ "name": "reads", "perm": permission }));
        for ((name, password), role) in [(ROOT, "root"), (READER, "reads")] {
            ask("auth/user/add", json!({ "name": name, "password": password }));
            ask("auth/user/grant", json!({ "user": name, "role": role }));
        }
        ask("auth/enable", json!({}));
    });
    login().unwrap()["token"].as_str().unwrap().to_owned()
}

fn post(method: &str, token: Option<&str>, question: &Value) -> Option<Value> {
    let mut request = ureq::post(format!("http://{}/v3/{method}", Registry::Etcd.place()));
    if let Some(token) = token {
        request = request.header("Authorization", token);
    }
    request.send_json(question).ok()?.body_mut().read_json().ok()
}

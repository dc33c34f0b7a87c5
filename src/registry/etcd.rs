//! etcd, over the JSON gateway that every server of 3.4 and later has on its client port.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::{Address, PATIENCE, nothing_there, pem};
use crate::{Error, Result};

pub(super) fn children(address: &Address, namespace: &str, path: &str) -> Result<BTreeSet<String>> {
    let agent = agent(address)?;
    let mut last = None;
    for server in &address.servers {
        match ask(&agent, address, server, namespace, path) {
            Ok(names) => return Ok(names),
            Err(Failure::Unreachable(why)) => last = Some(why),
            Err(Failure::Final(error)) => return Err(error),
        }
    }
    Err(Error::database(format!("the registry {address} does not answer: {}", last.unwrap_or_default()))
        .hint("is the address right, is one of its servers up, and is its JSON gateway on (--enable-grpc-gateway)?"))
}

enum Failure {
    /// Another server may answer.
    Unreachable(String),
    Final(Error),
}

type Answer<T> = std::result::Result<T, Failure>;

fn ask(agent: &ureq::Agent, address: &Address, server: &str, namespace: &str, path: &str) -> Answer<BTreeSet<String>> {
    let token = token(agent, address, server)?;
    let prefix = format!("{namespace}{path}/");
    let found = keys_below(agent, address, server, token.as_deref(), &prefix, 0)?;
    if found.is_empty() && keys_below(agent, address, server, token.as_deref(), &format!("{namespace}/"), 1)?.is_empty()
    {
        return Err(Failure::Final(nothing_there(address, namespace)));
    }
    let name = |key: &String| Some(key.strip_prefix(&prefix)?.split('/').next()?.to_owned());
    Ok(found.iter().filter_map(name).filter(|name| !name.is_empty()).collect())
}

fn token(agent: &ureq::Agent, address: &Address, server: &str) -> Answer<Option<String>> {
    let Some(user) = &address.user else { return Ok(None) };
    let login = json!({ "name": user, "password": address.password_text().unwrap_or_default() });
    match post(agent, address, server, "auth/authenticate", None, &login) {
        Ok(answer) => Ok(answer["token"].as_str().map(ToOwned::to_owned)),
        // A registry without logins lets everybody read.
        Err(Failure::Unreachable(why)) if why.contains("authentication is not enabled") => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Keys that begin with a prefix; at most `limit`, where that is not 0.
fn keys_below(
    agent: &ureq::Agent,
    address: &Address,
    server: &str,
    token: Option<&str>,
    prefix: &str,
    limit: u32,
) -> Answer<Vec<String>> {
    let question = json!({
        "key": BASE64.encode(prefix),
        "range_end": BASE64.encode(end_of(prefix)),
        "keys_only": true,
        "limit": limit,
    });
    let answer = post(agent, address, server, "kv/range", token, &question)?;
    let key = |kv: &Value| String::from_utf8(BASE64.decode(kv["key"].as_str()?).ok()?).ok();
    Ok(answer["kvs"].as_array().into_iter().flatten().filter_map(key).collect())
}

/// The first key after all that begin with a prefix.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    // UTF-8 has no byte 0xFF, so there is always room for one more.
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

fn post(
    agent: &ureq::Agent,
    address: &Address,
    server: &str,
    method: &str,
    token: Option<&str>,
    question: &Value,
) -> Answer<Value> {
    let scheme = if address.secure { "https" } else { "http" };
    let mut request = agent.post(format!("{scheme}://{server}/v3/{method}"));
    if let Some(token) = token {
        request = request.header("Authorization", token);
    }
    let mut response = request.send_json(question).map_err(|e| Failure::Unreachable(e.to_string()))?;
    let status = response.status();
    let read: std::result::Result<Value, _> = response.body_mut().read_json();
    if status.is_success() {
        // An answer that breaks off must not pass for an empty list.
        let answer = read.map_err(|e| Failure::Unreachable(format!("{server}: the answer cannot be read: {e}")))?;
        return match answer["header"].is_object() {
            true => Ok(answer),
            false => Err(Failure::Unreachable(format!("{server} does not answer as etcd does"))),
        };
    }
    let answer = read.unwrap_or_default();
    // The text is the server's own; it never repeats the question, which may hold a password.
    let why = answer["error"].as_str().or(answer["message"].as_str()).unwrap_or("no reason").to_owned();
    match status.as_u16() {
        400 | 401 | 403 => Err(Failure::Final(
            Error::refused(format!("the registry {address} does not let this login read: {why}"))
                .hint("name a login that may: etcd://USER@HOST:PORT, its password in FLOWMEND_REGISTRY_PASSWORD"),
        )),
        code => Err(Failure::Unreachable(format!("{server} says {code}: {why}"))),
    }
}

fn agent(address: &Address) -> Result<ureq::Agent> {
    let mut tls = TlsConfig::builder();
    if let Some(ca) = &address.ca {
        let text = pem("file of authorities", ca)?;
        let certificates = ureq::tls::parse_pem(text.as_bytes()).filter_map(|item| match item {
            Ok(ureq::tls::PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        });
        tls = tls.root_certs(RootCerts::from(certificates));
    }
    if let (Some(cert), Some(key)) = (&address.cert, &address.key) {
        let bad = |e: ureq::Error| Error::usage(format!("--registry: the certificates cannot be used: {e}"));
        let certificate = Certificate::from_pem(pem("certificate", cert)?.as_bytes()).map_err(bad)?;
        let key = PrivateKey::from_pem(pem("key", key)?.as_bytes()).map_err(bad)?;
        tls = tls.client_cert(Some(ClientCert::new_with_certs(&[certificate], key)));
    }
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // A refusal has a body that says why.
        .http_status_as_error(false)
        // A registry is asked directly; a proxy of the environment is for the web.
        .proxy(None)
        .tls_config(tls.build())
        .build();
    Ok(config.new_agent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix() {
        assert_eq!(end_of("ds/nodes/"), b"ds/nodes0");
    }
}

//! A proxy between the program and a server that breaks the connection at the commit.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::db::{Server, TestDb};

/// What happens at the first commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The statement never reaches the server.
    Before,
    /// The statement is done, and its answer is lost.
    After,
    /// As `Before`, and nobody can connect any more.
    BeforeForGood,
    /// The client is cut off, and the statement reaches the server two seconds later.
    Late,
    /// The client is cut off, and the server does not learn of it.
    Silent,
}

/// A proxy; when it is dropped, what it still holds open is closed.
pub struct Proxy {
    port: u16,
    cut: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

struct Line {
    how: Cut,
    /// The bytes of the statement that commits.
    sign: &'static [u8],
    cut: Arc<AtomicBool>,
    /// The test is over: what still waits is closed.
    over: Arc<AtomicBool>,
    /// The statement went through on this connection; the next answer is lost.
    lose_answer: AtomicBool,
}

impl Proxy {
    pub fn new(db: &TestDb, how: Cut) -> Self {
        let upstream = url::Url::parse(&db.url).unwrap();
        let upstream = format!("{}:{}", upstream.host_str().unwrap(), upstream.port().unwrap());
        let sign: &'static [u8] = match db.server {
            Server::PostgreSql => b"Q\0\0\0\x0bCOMMIT\0",
            _ => b"\x03EXECUTE flowmend_end",
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicBool::new(false));
        let over = Arc::new(AtomicBool::new(false));
        let (seen, ends) = (Arc::clone(&cut), Arc::clone(&over));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if how == Cut::BeforeForGood && seen.load(Ordering::SeqCst) {
                    return;
                }
                let server = TcpStream::connect(&upstream).unwrap();
                let line = Line {
                    how,
                    sign,
                    cut: Arc::clone(&seen),
                    over: Arc::clone(&ends),
                    lose_answer: AtomicBool::new(false),
                };
                connect(client.unwrap(), server, Arc::new(line));
            }
        });
        Self { port, cut, over }
    }

    /// The database's address through the proxy, in clear text.
    pub fn url(&self, db: &TestDb) -> String {
        let mut url = url::Url::parse(&db.url).unwrap();
        url.set_port(Some(self.port)).unwrap();
        let option = if db.server == Server::PostgreSql { "sslmode=disable" } else { "ssl-mode=disabled" };
        url.set_query(Some(option));
        url.to_string()
    }

    /// Whether the commit came by.
    pub fn has_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

fn connect(client: TcpStream, server: TcpStream, line: Arc<Line>) {
    let (c, s, l) = (client.try_clone().unwrap(), server.try_clone().unwrap(), Arc::clone(&line));
    std::thread::spawn(move || pump(c, s, |from, bytes| l.to_server(from, bytes)));
    std::thread::spawn(move || pump(server, client, |_, _| !line.lose_answer.load(Ordering::SeqCst)));
}

/// Copies until the end, or until `pass` says no; then both sides are closed.
fn pump(mut from: TcpStream, mut to: TcpStream, pass: impl Fn(&TcpStream, &[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !pass(&from, &buffer[..read]) || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

impl Line {
    fn to_server(&self, client: &TcpStream, bytes: &[u8]) -> bool {
        let commits = bytes.windows(self.sign.len()).any(|w| w == self.sign);
        if !commits || self.cut.swap(true, Ordering::SeqCst) {
            return true;
        }
        self.lose_answer.store(self.how == Cut::After, Ordering::SeqCst);
        if matches!(self.how, Cut::Late | Cut::Silent) {
            let _ = client.shutdown(Shutdown::Both);
            let began = std::time::Instant::now();
            let late = |after: Duration| self.how == Cut::Late && after > Duration::from_secs(2);
            while !late(began.elapsed()) && !self.over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        matches!(self.how, Cut::After | Cut::Late)
    }
}

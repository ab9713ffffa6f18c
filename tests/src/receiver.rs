//! A receiver of webhooks that keeps all requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Headers with their names in lower case.
    pub path: String,
    /// Headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// Returns the first header with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A server on loopback that accepts POSTs and ends with the test process.
#[derive(Debug)]
pub struct Receiver {
    addr: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    refuses: Arc<AtomicBool>,
}

impl Receiver {
    /// Starts a receiver on a free port.
    pub fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver =
            Receiver { addr: listener.local_addr().unwrap(), requests: Arc::default(), refuses: Arc::default() };
        let (requests, refuses) = (receiver.requests.clone(), receiver.refuses.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A caller that disconnects early does not matter.
                let _gone = answer(stream, &requests, &refuses);
            }
        });
        receiver
    }

    /// Returns the address that the receiver listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Makes the receiver answer each POST with 500, or accept POSTs again.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::Relaxed);
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the POSTs to a path so far.
    pub fn posts(&self, path: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|got| got.method == "POST" && got.path == path).collect()
    }
}

fn answer(stream: TcpStream, requests: &Mutex<Vec<Request>>, refuses: &AtomicBool) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: vec![] };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    let status =
        if request.method == "POST" && refuses.load(Ordering::Relaxed) { "500 Out of order" } else { "200 OK" };
    requests.lock().unwrap().push(request);
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

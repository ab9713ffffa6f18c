//! A function URL on loopback: a browser's request becomes an event for the web function, and the function's answer
//! becomes a response (Lambda's payload format 2.0). On AWS the service does this; the emulator has no host names for
//! it.

use super::stack::Stack;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

/// Maximum time for a browser to send a request.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum size of a request's body, in bytes.
const MAX_BODY: u64 = 64 * 1024;

/// A function URL of a stack's web function. Dropping it closes the port.
#[derive(Debug)]
pub struct Door<'a> {
    addr: SocketAddr,
    is_shut: &'a AtomicBool,
}

impl<'a> Door<'a> {
    /// Opens the function URL on a free port. Its threads end with the scope, once this value was dropped.
    pub fn open<'s>(scope: &'s Scope<'s, '_>, stack: &'s Stack, is_shut: &'a AtomicBool) -> Door<'a>
    where
        'a: 's,
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        scope.spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_shut.load(Ordering::SeqCst) {
                    return;
                }
                // A client that disconnects before the answer does not need it.
                scope.spawn(move || serve(stack, stream).ok());
            }
        });
        Door { addr, is_shut }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        self.is_shut.store(true, Ordering::SeqCst);
        // The connection wakes the thread that waits for one.
        let _woken = TcpStream::connect(self.addr);
    }
}

fn serve(stack: &Stack, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut parts = line.split_whitespace();
    let (Some(method), Some(target)) = (parts.next(), parts.next()) else { return Ok(()) };
    let (method, target) = (method.to_owned(), target.to_owned());
    let headers = headers(&mut reader)?;
    let length = headers.get("content-length").and_then(Value::as_str).and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = String::new();
    reader.by_ref().take(MAX_BODY.min(length)).read_to_string(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let answer = stack.visit(&method, path, query, &headers, &body);
    respond(reader.into_inner(), &answer)
}

fn headers(reader: &mut impl BufRead) -> std::io::Result<Map<String, Value>> {
    let mut headers = Map::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(headers) };
        headers.insert(name.to_ascii_lowercase(), json!(value.trim()));
    }
}

fn respond(mut stream: TcpStream, answer: &Value) -> std::io::Result<()> {
    let text = answer["body"].as_str().unwrap_or_default();
    let is_coded = answer["isBase64Encoded"].as_bool() == Some(true);
    let body = if is_coded { STANDARD.decode(text).unwrap_or_default() } else { text.as_bytes().to_vec() };
    let mut head = format!("HTTP/1.1 {} \r\n", answer["statusCode"]);
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        if name != "content-length" {
            head += &format!("{name}: {}\r\n", value.as_str().unwrap_or_default());
        }
    }
    head += &format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

//! The part of HTTP/1.1 that tests of `curlew serve` and a browser's driver need, over plain TCP.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Maximum time to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Headers with their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the first header with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Gets a path.
#[track_caller]
pub fn get(addr: SocketAddr, path: &str) -> Answer {
    request(addr, "GET", path, None)
}

/// Sends one request, optionally with a JSON body, on a new connection.
#[track_caller]
pub fn request(addr: SocketAddr, method: &str, path: &str, json: Option<&str>) -> Answer {
    let content = [("Content-Type", "application/json")];
    let (headers, body): (&[_], _) = json.map_or((&[], ""), |json| (&content, json));
    let call = HttpCall { method, path, headers, body: body.as_bytes(), patience: TIMEOUT };
    exchange(addr, &call).unwrap_or_else(|e| panic!("{method} http://{addr}{path}: {e}"))
}

/// Sends one request with these headers on a new connection.
#[track_caller]
pub fn request_with(addr: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let call = HttpCall { method, path, headers, body: b"", patience: TIMEOUT };
    exchange(addr, &call).unwrap_or_else(|e| panic!("{method} http://{addr}{path}: {e}"))
}

/// A request to be sent.
pub(crate) struct HttpCall<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// Headers other than `Host`, `Connection` and `Content-Length`.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
    /// Maximum time to wait for each piece of the answer.
    pub(crate) patience: Duration,
}

pub(crate) fn exchange(addr: SocketAddr, call: &HttpCall<'_>) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&addr, call.patience)?;
    stream.set_read_timeout(Some(call.patience))?;
    let mut head = format!("{} {} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n", call.method, call.path);
    for (name, value) in call.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !call.body.is_empty() || call.method != "GET" {
        head.push_str(&format!("Content-Length: {}\r\n", call.body.len()));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(call.body)?;
    read_answer(&mut BufReader::new(stream))
}

/// Parses an answer that has arrived completely.
///
/// # Errors
/// Returns an error if the answer ends early.
pub fn answer_of(mut bytes: &[u8]) -> std::io::Result<Answer> {
    read_answer(&mut bytes)
}

fn read_answer(reader: &mut impl BufRead) -> std::io::Result<Answer> {
    let status = line(reader)?;
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    answer.body = body_of(reader, &answer)?;
    Ok(answer)
}

fn line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn body_of(reader: &mut impl BufRead, answer: &Answer) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if let Some(length) = answer.header("content-length").and_then(|n| n.parse().ok()) {
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
    } else if answer.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = usize::from_str_radix(line(reader)?.split(';').next().unwrap_or_default(), 16)
                .map_err(std::io::Error::other)?;
            if size == 0 {
                break;
            }
            let start = body.len();
            body.resize(start + size, 0);
            reader.read_exact(&mut body[start..])?;
            line(reader)?;
        }
    } else {
        reader.read_to_end(&mut body)?;
    }
    Ok(body)
}

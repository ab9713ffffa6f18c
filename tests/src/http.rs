//! HTTP/1.1 as little as talking to `curlew serve` and to a browser's driver needs, over plain TCP.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No answer may take longer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Gets a path.
///
/// # Panics
/// If there is no answer.
#[track_caller]
pub fn get(addr: SocketAddr, path: &str) -> Answer {
    request(addr, "GET", path, None)
}

/// Sends one request, with JSON or without, on a connection of its own.
///
/// # Panics
/// If there is no answer.
#[track_caller]
pub fn request(addr: SocketAddr, method: &str, path: &str, json: Option<&str>) -> Answer {
    exchange(addr, method, path, json).unwrap_or_else(|e| panic!("{method} http://{addr}{path}: {e}"))
}

fn exchange(addr: SocketAddr, method: &str, path: &str, json: Option<&str>) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&addr, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let body = json.unwrap_or_default();
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n");
    if json.is_some() {
        head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let status = line(&mut reader)?;
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = Vec::new();
    loop {
        let line = line(&mut reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    answer.body = body_of(&mut reader, &answer)?;
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

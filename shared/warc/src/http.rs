//! Parses HTTP messages in the blocks of records: a head, and a body that may be chunked (RFC 9112).

const HEAD_BYTES: usize = 256 << 10;
const LINES: usize = 500;

/// An HTTP response. Its body is as stored in the block, possibly chunked and with a content coding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse<'a> {
    /// The status code.
    pub status: u16,
    /// Header lines: names in lower case, values trimmed.
    pub headers: Vec<(String, String)>,
    /// The rest of the block.
    pub body: &'a [u8],
}

impl HttpResponse<'_> {
    /// Returns the values of all header lines with this name, which must be in lower case.
    pub fn every<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s str> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body without chunked coding. A body that is not chunked, despite its header, is returned unchanged.
    pub fn unchunked(&self) -> Result<std::borrow::Cow<'_, [u8]>, &'static str> {
        let is_chunked = self.every("transfer-encoding").any(|value| value.to_lowercase().ends_with("chunked"));
        if is_chunked && chunk(self.body).is_some() {
            return unchunk(self.body).map(std::borrow::Cow::Owned).ok_or("its body is badly chunked");
        }
        let stated = self.every("content-length").next().and_then(|value| value.parse().ok());
        let end = stated.filter(|_| !is_chunked).unwrap_or(usize::MAX).min(self.body.len());
        Ok(std::borrow::Cow::Borrowed(&self.body[..end]))
    }
}

/// Parses the block of a `response` record; `None` if it is not an HTTP response.
pub fn response(block: &[u8]) -> Option<HttpResponse<'_>> {
    let start = &block[..block.len().min(HEAD_BYTES)];
    let mut lines = Vec::new();
    let mut at = 0;
    while lines.len() <= LINES {
        let length = start[at..].iter().position(|byte| *byte == b'\n')?;
        let line = &start[at..at + length];
        at += length + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() && !lines.is_empty() {
            break;
        }
        lines.push(String::from_utf8_lossy(line));
    }
    let (first, rest) = lines.split_first().filter(|(_, rest)| rest.len() <= LINES)?;
    let mut words = first.split_ascii_whitespace();
    let status = words.next().filter(|version| version.starts_with("HTTP/")).and(words.next())?.parse().ok()?;
    let line = |line: &std::borrow::Cow<'_, str>| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_lowercase(), value.trim().to_owned()))
    };
    Some(HttpResponse { status, headers: rest.iter().filter_map(line).collect(), body: &block[at..] })
}

/// Returns the length of the chunk at the start of a body, and the length of the chunk's size line.
fn chunk(body: &[u8]) -> Option<(usize, usize)> {
    let line = body.iter().take(1_024).position(|byte| *byte == b'\n')?;
    let text = std::str::from_utf8(&body[..line]).ok()?;
    let digits = text.split(';').next()?.trim();
    Some((usize::from_str_radix(digits, 16).ok()?, line + 1))
}

fn unchunk(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let (length, line) = chunk(body)?;
        body = &body[line..];
        // Lines after the last chunk are trailers.
        if length == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(body.get(..length)?);
        body = &body[length..];
        body = body.strip_prefix(b"\r").unwrap_or(body).strip_prefix(b"\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_and_their_chunks_joined() {
        let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\ntide\r\n1\r\ns\r\n0\r\n\r\n";
        let response = response(block).unwrap_or_else(|| panic!("it is a response"));
        assert_eq!((response.status, response.every("content-type").next()), (200, Some("text/html")));
        assert_eq!(response.unchunked().as_deref(), Ok(&b"tides"[..]));
    }

    #[test]
    fn bodies_that_are_not_as_their_headers_say() {
        for (head, body, is) in [
            ("Transfer-Encoding: chunked", "<p>tide</p>", Ok("<p>tide</p>")),
            ("Transfer-Encoding: chunked", "4\r\ntide\r\nffffffffffffffff\r\nx", Err("its body is badly chunked")),
            ("Transfer-Encoding: chunked", "4\r\ntide", Err("its body is badly chunked")),
            ("Content-Length: 4", "tides", Ok("tide")),
            ("Content-Length: 9", "tides", Ok("tides")),
            ("Content-Length: x", "tides", Ok("tides")),
        ] {
            let block = format!("HTTP/1.0 200\n{head}\n\n{body}");
            let read = response(block.as_bytes()).unwrap_or_else(|| panic!("{head}"));
            assert_eq!(read.unchunked().as_deref(), is.map(str::as_bytes).as_ref().copied(), "{head} {body}");
        }
        for block in ["", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 two\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            assert_eq!(response(block.as_bytes()), None, "{block}");
        }
    }
}

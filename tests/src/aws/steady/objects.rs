//! The operations of S3 that Curlew uses, over objects in memory.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The objects of the bucket: bytes and entity tag by key.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    objects: BTreeMap<String, (Bytes, String)>,
    writes: u64,
}

impl Bucket {
    pub(super) fn call(&mut self, operation: &str, path: &str, request: &Request<Bytes>) -> Response<Bytes> {
        let headers = request.headers();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        let key = place.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key);
        let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
        match operation {
            "GetObject" | "HeadObject" => {
                self.read(&key, operation == "HeadObject", text("range"), text("if-none-match"))
            }
            "PutObject" => self.write(key, request.body().clone(), headers),
            "DeleteObject" => {
                self.objects.remove(&key);
                answer(204, Bytes::new())
            }
            "ListObjects" => self.list(query),
            _ => panic!("the endpoint in memory does not know {operation} {path}"),
        }
    }

    fn read(&self, key: &str, is_head: bool, range: Option<&str>, known: Option<&str>) -> Response<Bytes> {
        let Some((bytes, tag)) = self.objects.get(key) else { return refused(404, "NoSuchKey") };
        if known == Some(tag) {
            return tagged(304, Bytes::new(), tag);
        }
        let Some((first, last)) = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) else {
            let mut whole = tagged(200, if is_head { Bytes::new() } else { bytes.clone() }, tag);
            whole.headers_mut().insert("content-length", bytes.len().into());
            return whole;
        };
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap_or(usize::MAX));
        if first >= bytes.len() {
            return refused(416, "InvalidRange");
        }
        let end = last.saturating_add(1).min(bytes.len());
        let mut part = tagged(206, bytes.slice(first..end), tag);
        let range = format!("bytes {first}-{}/{}", end - 1, bytes.len());
        part.headers_mut().insert("content-range", range.parse().unwrap());
        part
    }

    fn write(&mut self, key: String, bytes: Bytes, headers: &HeaderMap) -> Response<Bytes> {
        let wanted = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        assert!(wanted("x-amz-decoded-content-length").is_none(), "the endpoint in memory takes no chunks");
        let there = self.objects.get(&key).map(|(_, tag)| tag.as_str());
        match (wanted("if-none-match"), wanted("if-match")) {
            (Some(_), _) if there.is_some() => return refused(412, "PreconditionFailed"),
            (_, Some(_)) if there.is_none() => return refused(404, "NoSuchKey"),
            (_, Some(tag)) if there != Some(tag) => return refused(412, "PreconditionFailed"),
            _ => {}
        }
        self.writes += 1;
        let tag = format!("\"{:032x}\"", self.writes);
        self.objects.insert(key, (bytes, tag.clone()));
        tagged(200, Bytes::new(), &tag)
    }

    fn list(&self, query: &str) -> Response<Bytes> {
        let field = |name: &str| {
            let value = query.split('&').find_map(|pair| pair.split_once('=').filter(|(field, _)| *field == name));
            value.map_or_else(String::new, |(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned())
        };
        let (prefix, after) = (field("prefix"), field("start-after"));
        let most = field("max-keys").parse().unwrap_or(1_000);
        let all = self.objects.keys().filter(|key| key.starts_with(&prefix) && **key > after);
        let mut keys: Vec<&String> = all.take(most + 1).collect();
        let is_cut = keys.len() > most;
        keys.truncate(most);
        let mut xml =
            format!("<ListBucketResult><IsTruncated>{is_cut}</IsTruncated><KeyCount>{}</KeyCount>", keys.len());
        for key in keys {
            let _ = write!(xml, "<Contents><Key>{key}</Key></Contents>");
        }
        xml.push_str("</ListBucketResult>");
        answer(200, xml.into())
    }
}

fn answer(status: u16, body: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

fn tagged(status: u16, body: Bytes, tag: &str) -> Response<Bytes> {
    let mut answer = answer(status, body);
    answer.headers_mut().insert("etag", tag.parse().unwrap());
    answer
}

fn refused(status: u16, code: &str) -> Response<Bytes> {
    answer(status, format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>").into())
}

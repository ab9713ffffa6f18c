//! Objects in the data bucket.

use crate::error::{RequestContext, corrupt};
use crate::names::Names;
use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use curlew_ports::{Blob, Blobs, PortError, Seen, Tag};

const PRECONDITION_FAILED: u16 = 412;
/// Status if another conditional write of the same key is in progress.
const CONDITIONAL_CONFLICT: u16 = 409;
const NOT_MODIFIED: u16 = 304;
const RANGE_NOT_SATISFIABLE: u16 = 416;
const NOT_FOUND: u16 = 404;
/// Maximum number of attempts of a conditional write that meets another one.
const WRITE_TRIES: u32 = 4;
/// Maximum number of attempts to read an object whose transfer breaks off.
const READ_TRIES: u32 = 3;
/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 512;
/// Maximum number of characters of an invalid key in its error message.
const SHOWN: usize = 80;
/// Maximum number of keys in one response to a list request.
const PAGE: usize = 1_000;

/// The data bucket.
///
/// If the response to a conditional write is lost, the retry meets its own object: [`Blobs::put_if_absent`] then
/// reports an existing object and [`Blobs::swap`] a conflict, although the content is the caller's own.
#[derive(Clone, Debug)]
pub struct Objects {
    client: Client,
    bucket: String,
    stack: String,
}

#[derive(Clone, Copy)]
enum When<'a> {
    Always,
    Absent,
    Tagged(&'a Tag),
}

impl Objects {
    pub(crate) fn new(client: Client, names: &Names) -> Objects {
        Objects { client, bucket: names.bucket.clone(), stack: names.stack.clone() }
    }

    fn context<'a>(&'a self, what: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "bucket", name: &self.bucket, stack: &self.stack }
    }

    /// Reads the object or a range of it; returns `None` if there is no object.
    async fn open(&self, key: &str, range: Option<&str>) -> Result<Option<Blob>, PortError> {
        match self.open_unless(key, range, None).await? {
            Seen::Changed(blob) => Ok(blob),
            Seen::Same => Err(corrupt(format!("the object {key}"), "the store says that it has not changed, unasked")),
        }
    }

    /// Reads the object or a range of it, unless it has the tag `seen`.
    async fn open_unless(&self, key: &str, range: Option<&str>, seen: Option<&Tag>) -> Result<Seen, PortError> {
        let what = format!("read the object {key}");
        let mut tries = 1;
        loop {
            let get = self.client.get_object().bucket(&self.bucket).key(key).set_range(range.map(str::to_owned));
            let get = get.set_if_none_match(seen.map(|tag| tag.0.clone()));
            let output = match get.send().await {
                Ok(output) => output,
                Err(error) if is_absent(&error) => return Ok(Seen::Changed(None)),
                Err(error) if seen.is_some() && status(&error) == Some(NOT_MODIFIED) => return Ok(Seen::Same),
                Err(error) if status(&error) == Some(RANGE_NOT_SATISFIABLE) => return Err(too_short(key)),
                Err(error) => return Err(self.context(&what).failed(error)),
            };
            match read(output).await {
                Ok(blob) => return Ok(Seen::Changed(Some(blob))),
                Err(_) if tries < READ_TRIES => tries += 1,
                Err(error) => {
                    return Err(PortError::unavailable(format!("cannot {what}: the transfer broke off"), error));
                }
            }
        }
    }

    async fn length(&self, key: &str) -> Result<Option<u64>, PortError> {
        match self.client.head_object().bucket(&self.bucket).key(key).send().await {
            Ok(head) => Ok(Some(head.content_length.and_then(|length| u64::try_from(length).ok()).unwrap_or(0))),
            // The response to HEAD has no body that could distinguish a missing bucket from a missing object.
            Err(error) if status(&error) == Some(NOT_FOUND) => Ok(None),
            Err(error) => Err(self.context(&format!("read the object {key}")).failed(error)),
        }
    }

    /// Writes the object if the condition `when` holds; returns the new tag, or `None` if it does not hold.
    async fn write(&self, key: &str, bytes: Bytes, when: When<'_>) -> Result<Option<Tag>, PortError> {
        let mut tries = 1;
        loop {
            let put = self.client.put_object().bucket(&self.bucket).key(key).body(ByteStream::from(bytes.clone()));
            let put = match when {
                When::Always => put,
                When::Absent => put.if_none_match("*"),
                When::Tagged(tag) => put.if_match(&tag.0),
            };
            let error = match put.send().await {
                Ok(output) => return Ok(Some(Tag(output.e_tag.unwrap_or_default()))),
                Err(error) => error,
            };
            match status(&error) {
                Some(PRECONDITION_FAILED) => return Ok(None),
                Some(CONDITIONAL_CONFLICT) if tries < WRITE_TRIES => tries += 1,
                Some(CONDITIONAL_CONFLICT) => return Err(PortError::Conflict),
                Some(NOT_FOUND) if matches!(when, When::Tagged(_)) && is_absent(&error) => return Ok(None),
                _ => return Err(self.context(&format!("write the object {key}")).failed(error)),
            }
        }
    }
}

#[async_trait]
impl Blobs for Objects {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        check(key)?;
        self.open(key, None).await
    }

    async fn get_changed(&self, key: &str, seen: Option<&Tag>) -> Result<Seen, PortError> {
        check(key)?;
        match (self.open_unless(key, None, seen.filter(|tag| is_etag(&tag.0))).await?, seen) {
            (Seen::Changed(None), None) => Ok(Seen::Same),
            (answer, _) => Ok(answer),
        }
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        check(key)?;
        let missing = || PortError::NotFound(format!("the object {key}"));
        let Some(last) = offset.checked_add(length).filter(|_| length > 0).map(|end| end - 1) else {
            // HTTP has no empty ranges, and no range may end beyond 64 bits.
            let size = self.length(key).await?.ok_or_else(missing)?;
            return if length == 0 && offset <= size { Ok(Bytes::new()) } else { Err(too_short(key)) };
        };
        let blob = self.open(key, Some(&format!("bytes={offset}-{last}"))).await?.ok_or_else(missing)?;
        match u64::try_from(blob.bytes.len()) {
            Ok(got) if got == length => Ok(blob.bytes),
            _ => Err(too_short(key)),
        }
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        check(key)?;
        self.write(key, bytes, When::Always).await.map(drop)
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        check(key)?;
        Ok(self.write(key, bytes, When::Absent).await?.is_some())
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        check(key)?;
        let when = match seen {
            None => When::Absent,
            Some(tag) if is_etag(&tag.0) => When::Tagged(tag),
            // No object can have this tag.
            Some(_) => return Err(PortError::Conflict),
        };
        self.write(key, bytes, when).await?.ok_or(PortError::Conflict)
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        check(key)?;
        let deleted = self.client.delete_object().bucket(&self.bucket).key(key).send().await;
        deleted.map(drop).map_err(|e| self.context(&format!("delete the object {key}")).failed(e))
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let mut keys: Vec<String> = Vec::new();
        let mut more = limit > 0;
        while more {
            let want = (limit - keys.len()).min(PAGE);
            let after = keys.last().map(String::as_str).or(after).map(str::to_owned);
            let list = self.client.list_objects_v2().bucket(&self.bucket).prefix(prefix).set_start_after(after);
            let page = list.max_keys(i32::try_from(want).unwrap_or(1)).send().await;
            let page = page.map_err(|e| self.context("list the objects").failed(e))?;
            more = page.is_truncated.unwrap_or(false);
            keys.extend(page.contents.unwrap_or_default().into_iter().filter_map(|object| object.key));
            more &= keys.len() < limit;
        }
        Ok(keys)
    }
}

async fn read(output: GetObjectOutput) -> Result<Blob, aws_sdk_s3::primitives::ByteStreamError> {
    let tag = Tag(output.e_tag.unwrap_or_default());
    Ok(Blob { bytes: output.body.collect().await?.into_bytes(), tag })
}

fn status<E>(error: &SdkError<E, HttpResponse>) -> Option<u16> {
    error.raw_response().map(|raw| raw.status().as_u16())
}

fn is_absent<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    status(error) == Some(NOT_FOUND) && error.code() == Some("NoSuchKey")
}

/// True if a text is an entity tag: it is quoted (RFC 9110 §8.8.3), and S3 uses only strong ones.
fn is_etag(text: &str) -> bool {
    text.len() > 2 && text.starts_with('"') && text.ends_with('"')
}

fn too_short(key: &str) -> PortError {
    corrupt(format!("the object {key}"), "it is shorter than the range that was asked for")
}

pub(crate) fn check(key: &str) -> Result<(), PortError> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(is_plain);
    if key.len() <= MAX_KEY && key.split('/').all(is_part) {
        return Ok(());
    }
    let given: String = key.chars().take(SHOWN).collect();
    Err(corrupt(format!("the key '{}'", given.escape_debug()), "it is not a key of an object"))
}

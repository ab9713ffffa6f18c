//! Answers of the server as plain data.

use crate::coding::Coding;
use crate::feeds::FeedDoc;
use crate::log::Kind;
use crate::text;
use bytes::Bytes;
use image::ImageFormat;
use std::sync::Arc;
use std::time::Duration;

/// Answer at one address.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) kind: Kind,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
    /// Content coding, if the client accepts it.
    pub(crate) coding: Option<Coding>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Plain(Bytes),
    /// Bytes in several pieces, so that pages can share large parts.
    Pieces(Vec<Bytes>),
    /// A picture with this seed, drawn at the first request.
    Picture(u64, ImageFormat),
    /// A feed that is written on request, since new entries can be published.
    Feed(Arc<FeedDoc>),
    /// A gzip bomb with this decoded size in MiB.
    Bomb(usize),
    /// The bytes repeated this many times.
    Endless(Bytes, u32),
    /// One byte at a time, with this pause before each.
    Drip(Bytes, Duration),
    /// Fewer bytes than the Content-Length states.
    Short {
        /// Bytes that are sent.
        sent: Bytes,
        /// Stated length.
        promised: u64,
    },
    /// The connection is closed without an answer.
    Hangup,
}

impl Reply {
    pub(crate) fn new(kind: Kind, status: u16, media_type: &str, body: impl Into<Bytes>) -> Reply {
        let headers = vec![("content-type", media_type.to_owned())];
        Reply { kind, status, headers, body: Body::Plain(body.into()), coding: None }
    }

    /// Returns an HTML article in UTF-8.
    pub(crate) fn page(html: impl Into<Bytes>) -> Reply {
        Reply::new(Kind::Page, 200, "text/html; charset=utf-8", html)
    }

    /// Returns a home page in UTF-8.
    pub(crate) fn home(html: impl Into<Bytes>) -> Reply {
        Reply { kind: Kind::Home, ..Reply::page(html) }
    }

    pub(crate) fn robots(text: impl Into<Bytes>) -> Reply {
        Reply::new(Kind::Robots, 200, "text/plain; charset=utf-8", text)
    }

    /// Returns an answer with only a status and a short text.
    pub(crate) fn status(kind: Kind, status: u16) -> Reply {
        let text = format!(
            "<!doctype html>\n<html lang=\"en\"><head><title>{status}</title></head><body><p>The server says {status}.</p></body></html>\n"
        );
        Reply { status, ..Reply::new(kind, status, "text/html; charset=utf-8", text) }
    }

    /// Returns a page's redirect.
    pub(crate) fn redirect(status: u16, to: &str) -> Reply {
        Reply::status(Kind::Page, status).with("location", to)
    }

    pub(crate) fn feed(feed: FeedDoc) -> Reply {
        let media_type = format!("{}; charset=utf-8", feed.format.media_type());
        let newest = feed.newest();
        let reply = Reply::new(Kind::Feed, 200, &media_type, "");
        reply.with("last-modified", newest.http()).body(Body::Feed(Arc::new(feed)))
    }

    /// Returns the picture at this address.
    pub(crate) fn picture_at(url: &str) -> Reply {
        let form = if url.ends_with(".png") { ImageFormat::Png } else { ImageFormat::Jpeg };
        Reply::picture(text::fnv(url.as_bytes()), form)
    }

    pub(crate) fn picture(seed: u64, form: ImageFormat) -> Reply {
        let mut reply = Reply::new(Kind::Image, 200, form.to_mime_type(), Bytes::new());
        reply.body = Body::Picture(seed, form);
        reply.with("cache-control", "public, max-age=86400")
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// Replaces only the body.
    #[must_use]
    pub(crate) fn body(mut self, body: Body) -> Reply {
        self.body = body;
        self
    }

    #[must_use]
    pub(crate) fn typed(mut self, media_type: &str) -> Reply {
        self.headers.retain(|(name, _)| *name != "content-type");
        self.with("content-type", media_type)
    }

    #[must_use]
    pub(crate) fn of_kind(mut self, kind: Kind) -> Reply {
        self.kind = kind;
        self
    }
}

//! Requests as browsers and hubs send them.

use axum::body::{Body, HttpBody};
use axum::http::{Method, Request};
use bytes::Bytes;
use curlew_web::Caller;
use hyper::body::Frame;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use url::form_urlencoded::Serializer;

/// Returns a request without a body.
pub fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let with = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    with.body(Body::empty()).unwrap()
}

/// Returns a form from one of our pages, as a browser sends it.
pub fn form(path: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let body = Serializer::new(String::new()).extend_pairs(fields).finish();
    let kind = ("content-type", "application/x-www-form-urlencoded");
    request(Method::POST, path, &[kind, ("sec-fetch-site", "same-origin")]).map(|_| Body::from(body))
}

struct Pieces(VecDeque<Option<Vec<u8>>>, Arc<AtomicUsize>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        match self.0.pop_front() {
            Some(None) => Poll::Pending,
            piece => Poll::Ready(piece.flatten().map(|piece| Ok(Frame::data(piece.into())))),
        }
    }
}

/// Returns a body that yields these pieces (`None`: stays pending), and the counter of its reads.
pub fn body_in_pieces(pieces: impl IntoIterator<Item = Option<Vec<u8>>>) -> (Body, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    (Body::new(Pieces(pieces.into_iter().collect(), reads.clone())), reads)
}

/// Returns a request with this address as its caller.
pub fn from(address: [u8; 4], mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(Caller(Some(address.into())));
    request
}

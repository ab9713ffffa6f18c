//! An in-memory web.

use super::lock;
use async_trait::async_trait;
use curlew_model::Validators;
use curlew_ports::{Call, Fetch, FetchError, Reply};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

/// [`Fetch`] from a list of answers; other URLs return 404.
#[derive(Debug, Default)]
pub struct MemoryFetch {
    state: Mutex<FetchState>,
}

#[derive(Debug, Default)]
struct FetchState {
    answers: BTreeMap<String, VecDeque<Result<Reply, FetchError>>>,
    kept: BTreeMap<String, Document>,
    refused: BTreeSet<String>,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Document {
    reply: Reply,
    /// Validators that the server compares with those of a request.
    known_by: Validators,
    /// True if every conditional request gets 304.
    is_hidden: bool,
}

impl MemoryFetch {
    /// Appends an answer for a URL. The last answer repeats.
    pub fn answer(&self, url: &str, answer: Result<Reply, FetchError>) {
        lock(&self.state).answers.entry(url.to_owned()).or_default().push_back(answer);
    }

    /// Appends a page of this media type, like [`MemoryFetch::answer`].
    pub fn serve(&self, url: &str, content_type: &str, body: impl Into<bytes::Bytes>) {
        let mut reply = Reply { status: 200, body: body.into(), ..Reply::default() };
        reply.headers.content_type = Some(content_type.to_owned());
        self.answer(url, Ok(reply));
    }

    /// Sets the current document at a URL. A request with its validators gets 304.
    pub fn keep(&self, url: &str, reply: Reply) {
        let known_by = reply.headers.validators.clone();
        self.keep_as(url, reply, known_by);
    }

    /// Sets a document whose server compares other validators than it sends, like a server behind a proxy.
    pub fn keep_as(&self, url: &str, reply: Reply, known_by: Validators) {
        lock(&self.state).kept.insert(url.to_owned(), Document { reply, known_by, is_hidden: false });
    }

    /// Sets a document whose server accepts any validators: every conditional request gets 304, and only an
    /// unconditional one gets the document.
    pub fn hide(&self, url: &str, reply: Reply) {
        let known_by = reply.headers.validators.clone();
        lock(&self.state).kept.insert(url.to_owned(), Document { reply, known_by, is_hidden: true });
    }

    /// Makes the address guard refuse a URL.
    pub fn refuse(&self, url: &str) {
        lock(&self.state).refused.insert(url.to_owned());
    }

    /// Returns all calls so far, except refused ones.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.state).calls.clone()
    }
}

#[async_trait]
impl Fetch for MemoryFetch {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        self.vet(&call.url).map_err(FetchError::Refused)?;
        let mut state = lock(&self.state);
        state.calls.push(call.clone());
        if let Some(Document { reply, known_by, is_hidden }) = state.kept.get(&call.url) {
            let is_known = *is_hidden || call.validators == *known_by;
            let is_304 = is_known && !call.validators.is_empty();
            return Ok(if is_304 { Reply { status: 304, ..Reply::default() } } else { reply.clone() });
        }
        let Some(answers) = state.answers.get_mut(&call.url) else {
            return Ok(Reply { status: 404, ..Reply::default() });
        };
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        answer.unwrap_or_else(|| Err(FetchError::Network("there is no answer".into())))
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        if lock(&self.state).refused.contains(url) { Err(format!("{url} is not called")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::Millis;
    use curlew_ports::CallKind;

    #[tokio::test]
    async fn answers_come_in_their_order_and_the_last_one_stays() {
        let web = MemoryFetch::default();
        let url = "https://example.org/";
        let (validators, time) = (Validators::default(), Millis(1));
        let call = Call { url: url.into(), kind: CallKind::Page, validators, post: None, signature: None, time };
        assert_eq!(web.call(&call).await.map(|reply| reply.status), Ok(404));
        web.answer(url, Ok(Reply { status: 503, ..Reply::default() }));
        web.serve(url, "text/html", "x");
        for status in [503, 200, 200] {
            assert_eq!(web.call(&call).await.map(|reply| reply.status), Ok(status));
        }
        web.refuse(url);
        assert!(matches!(web.call(&call).await, Err(FetchError::Refused(_))));
        assert_eq!(web.calls().len(), 4);
    }
}

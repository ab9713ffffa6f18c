//! A response of the router, and the checks that every response has to pass.

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use quick_xml::XmlVersion;
use quick_xml::events::Event;

/// A response, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub(crate) async fn of(response: Response<Body>, head: bool) -> Answer {
        let (parts, body) = response.into_parts();
        let body = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        answer.must_be_guarded();
        if !head && answer.header("content-type").starts_with("text/html") {
            answer.must_be_well_formed();
        }
        answer
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// Returns the token of the form on the page.
    pub fn token(&self) -> String {
        self.attributes("input[name=token]", "value").remove(0)
    }

    /// Returns the page as browsers parse it.
    pub fn dom(&self) -> scraper::Html {
        scraper::Html::parse_document(&self.body)
    }

    /// Returns the text of the first match of a selector; blanks are run together.
    pub fn text(&self, selector: &str) -> String {
        self.all(selector).into_iter().next().unwrap_or_default()
    }

    /// Returns the texts of all matches of a selector.
    pub fn all(&self, selector: &str) -> Vec<String> {
        let selector = scraper::Selector::parse(selector).unwrap();
        let text = |e: scraper::ElementRef<'_>| e.text().collect::<String>();
        self.dom().select(&selector).map(text).map(|t| t.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// Returns the values of an attribute of all matches of a selector.
    pub fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let selector = scraper::Selector::parse(selector).unwrap();
        self.dom().select(&selector).filter_map(|e| e.attr(name).map(str::to_owned)).collect()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Checks that the answer carries the headers that protect the browser's user.
    fn must_be_guarded(&self) {
        let policy = self.header("content-security-policy");
        for part in
            ["default-src 'none'", "img-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{part} is missing in {policy:?}");
        }
        assert!(!policy.contains("unsafe"));
        assert!(!policy.contains("script-src"), "{policy}");
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        assert!(["no-referrer", "same-origin"].contains(&self.header("referrer-policy")));
        assert!(self.header("permissions-policy").contains("geolocation=()"));
        assert!(!self.header("cache-control").is_empty());
        // Only sign-in and sign-out of an operator set a cookie.
        assert!(self.header("set-cookie").is_empty() || self.header("location") == "/admin");
    }

    /// Checks that a page is well-formed XML (stricter than any browser), and has one heading and no scripts.
    fn must_be_well_formed(&self) {
        let mut reader = quick_xml::Reader::from_str(&self.body);
        reader.config_mut().check_end_names = true;
        let mut depth = 0_i32;
        loop {
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    depth += 1;
                    tag.attributes().for_each(|a| drop(a.unwrap().normalized_value(XmlVersion::Implicit1_0).unwrap()));
                }
                Ok(Event::Empty(tag)) => tag.attributes().for_each(|a| drop(a.expect("a sound attribute"))),
                Ok(Event::End(_)) => depth -= 1,
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(error) => panic!("{error} at {} of:\n{}", reader.error_position(), self.body),
            }
        }
        assert_eq!(depth, 0, "unclosed tags in:\n{}", self.body);
        let forbidden = ["<script", "<style", " style=", "http-equiv", "<iframe"];
        forbidden.iter().for_each(|bad| assert!(!self.body.contains(bad), "{bad} in:\n{}", self.body));
        assert_eq!(self.attributes("html", "lang"), [self.header("content-language")]);
        assert!(self.headers.get_all("vary").iter().any(|vary| vary == "accept-language"));
        assert_eq!(self.all("h1").len(), 1, "one heading leads the page:\n{}", self.body);
        assert!(!self.text("title").is_empty());
        self.must_be_labelled();
    }

    /// Checks that every visible field has one label, and that ids are unique.
    fn must_be_labelled(&self) {
        let labels = self.attributes("label", "for");
        for field in self.attributes("input:not([type=hidden])", "id") {
            assert_eq!(labels.iter().filter(|l| **l == field).count(), 1, "the label of {field}");
        }
        let mut ids = self.attributes("[id]", "id");
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}

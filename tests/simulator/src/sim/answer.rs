//! Answers of the model web to a call at a moment, and its robots.txt files.

use super::world::{Page, RobotsAnswer, RobotsText, Route, World};
use crate::bad_time::{HOUR, MINUTE, Moment, document, failure_at, status};
use bytes::Bytes;
use curlew_model::{Exchange, Millis, Timestamp};
use curlew_policy::chance::mix;
use curlew_ports::{Call, FetchError, Reply};
use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::OnceLock;
use url::Url;

/// Time for which an answer of robots.txt may be used (RFC 9309 §2.4). The number is deliberately written here again
/// instead of being taken from the policy.
const ROBOTS_AGE: Moment = 24 * HOUR;
/// Time for which an older copy may be used while robots.txt cannot be reached.
const ROBOTS_OLD: Moment = 30 * 24 * HOUR;

impl World {
    /// Returns the answer to a call that begins at `now`, and the time until it comes. `luck` decides how slow it is.
    pub(super) fn answer(&self, call: &Call, now: Moment, luck: u64) -> (Result<Reply, FetchError>, Millis) {
        let Ok(url) = Url::parse(&call.url) else { return (network("that is no URL"), Millis(1)) };
        let name = url.host_str().unwrap_or_default();
        let Some(host) = self.hosts.iter().find(|host| host.names.iter().any(|n| n == name)) else {
            return (network("the name does not resolve"), Millis(30));
        };
        let slow = mix(luck) % 100 < host.slow;
        let took = match mix(luck ^ 1) % 8 {
            _ if slow => call.time.0 - mix(luck ^ 2) % (call.time.0 / 4 + 1),
            0 => mix(luck ^ 3) % (call.time.0 / 2 + 1),
            _ => 20 + mix(luck ^ 4) % 400,
        };
        let took = Millis(took.min(call.time.0));
        let answer = match failure_at(&host.bad_times, now) {
            Some(failure) => failure.answer(),
            None => Ok(self.calm(call, &url, now)),
        };
        (answer.map(|reply| Reply { took, ..reply }), took)
    }

    fn calm(&self, call: &Call, url: &Url, now: Moment) -> Reply {
        if url.path() == "/robots.txt" {
            return match self.robots_at(&base(url), now) {
                None => status(404),
                Some(RobotsAnswer::Status(code)) => status(*code),
                Some(RobotsAnswer::Redirect(to)) => redirect(302, to),
                Some(RobotsAnswer::Text(n)) => document("text/plain", self.texts[*n].body.clone()),
            };
        }
        if let Some(code) = self.hub_status(url.as_str(), now) {
            return status(code);
        }
        if let Some(proof) = self.proof(url, now) {
            return document("text/plain", proof);
        }
        if let Some((proof, feeds)) = self.proving_home(url, now) {
            return document("text/html", home(feeds, &proof));
        }
        match self.routes.get(url.as_str()) {
            None => status(404),
            Some(Route::Redirect { to, status }) => redirect(*status, to),
            Some(Route::Robots(n)) => document("text/plain", self.texts[*n].body.clone()),
            Some(Route::Home { feeds }) => document("text/html", home(feeds, "")),
            // Some image URLs answer with something that is no image.
            Some(Route::Image) if url.path().ends_with("3.png") => document("image/png", "no picture"),
            Some(Route::Image) => document("image/png", picture()),
            Some(Route::Page(page)) => page_reply(page, now),
            Some(Route::Sitemap { is_index, links }) => document("text/xml", sitemap(*is_index, links)),
            Some(Route::Feed { gone_from: Some(at), .. }) if *at <= now => status(410),
            Some(Route::Feed { .. }) => {
                let body = self.feed(url.as_str(), now).unwrap_or_default();
                let etag = format!("\"{:x}\"", body.len());
                if call.validators.etag.as_deref() == Some(etag.as_str()) {
                    return status(304);
                }
                let mut reply = document("application/rss+xml", body);
                reply.headers.validators.etag = Some(etag);
                reply
            }
        }
    }

    /// Returns the text of a feed, with the entries that it lists at `now`.
    pub(super) fn feed(&self, url: &str, now: Moment) -> Option<String> {
        let Some(Route::Feed { entries, hub, older, .. }) = self.routes.get(url) else { return None };
        let mut text = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>\
                        <description>What is new</description>"
            .to_owned();
        let atom = "xmlns:atom=\"http://www.w3.org/2005/Atom\"";
        if let Some(older) = older {
            let _ = write!(text, "<atom:link {atom} rel=\"prev-archive\" href=\"{older}\"/>");
        }
        if let Some(hub) = hub {
            let _ = write!(text, "<atom:link {atom} rel=\"hub\" href=\"{hub}\"/>");
            let _ = write!(text, "<atom:link {atom} rel=\"self\" href=\"{url}\"/>");
        }
        for entry in entries.iter().filter(|entry| entry.from <= now) {
            let _ = write!(text, "<item><title>About {0}</title><link>{0}</link><guid>{0}</guid></item>", entry.link);
        }
        text.push_str("</channel></rss>");
        Some(text)
    }

    fn robots_at(&self, base: &str, now: Moment) -> Option<&RobotsAnswer> {
        self.robots.get(base)?.iter().rev().find(|(from, _)| *from <= now).map(|(_, answer)| answer)
    }

    /// Returns true if robots.txt may justify a call to `url` at `now`: by an answer that is not too old (`slack`
    /// allows for a visit under way), or by an older answer while robots.txt cannot be reached.
    pub(super) fn may_call(&self, url: &Url, now: Moment, slack: Millis) -> bool {
        let from = now.saturating_sub(ROBOTS_AGE + slack.0);
        let answers = self.answers_between(&base(url), from, now, 0);
        if answers.iter().any(|answer| allows(answer, url)) {
            return true;
        }
        let unreachable = answers.iter().any(|answer| matches!(answer, Said::Failure));
        let older = self.answers_between(&base(url), now.saturating_sub(ROBOTS_OLD), now, 0);
        unreachable && older.iter().any(|answer| matches!(answer, Said::Text(_)) && allows(answer, url))
    }

    /// Returns every result that a call of robots.txt could have had between `from` and `to`.
    fn answers_between(&self, base: &str, from: Moment, to: Moment, depth: u32) -> Vec<Said<'_>> {
        let Some(versions) = self.robots.get(base) else { return vec![Said::Everything] };
        let mut said = vec![];
        let name = base.rsplit('/').next().unwrap_or_default();
        let host = self.hosts.iter().find(|host| host.names.iter().any(|n| n == name));
        if host.is_some_and(|host| host.bad_times.iter().any(|e| e.from <= to && from < e.to)) {
            said.push(Said::Failure);
        }
        for (n, (begins, answer)) in versions.iter().enumerate() {
            let ends = versions.get(n + 1).map_or(Moment::MAX, |(next, _)| *next);
            if *begins > to || ends <= from {
                continue;
            }
            match answer {
                RobotsAnswer::Text(n) => said.push(Said::Text(&self.texts[*n])),
                RobotsAnswer::Status(401 | 403) => said.push(Said::Nothing),
                RobotsAnswer::Status(404) => said.push(Said::Everything),
                RobotsAnswer::Status(_) => said.push(Said::Failure),
                RobotsAnswer::Redirect(to_url) => said.extend(self.redirected(to_url, from, to, depth)),
            }
        }
        said
    }

    fn redirected(&self, to_url: &str, from: Moment, to: Moment, depth: u32) -> Vec<Said<'_>> {
        let Ok(url) = Url::parse(to_url) else { return vec![Said::Failure] };
        let mut said = match self.routes.get(to_url) {
            Some(Route::Robots(n)) => vec![Said::Text(&self.texts[*n])],
            _ if url.path() == "/robots.txt" && depth < 3 => self.answers_between(&base(&url), from, to, depth + 1),
            _ => vec![Said::Failure],
        };
        let name = url.host_str().unwrap_or_default();
        let host = self.hosts.iter().find(|host| host.names.iter().any(|n| n == name));
        if host.is_some_and(|host| host.bad_times.iter().any(|e| e.from <= to && from < e.to)) {
            said.push(Said::Failure);
        }
        said
    }

    pub(super) fn delay_of(&self, body: &[u8]) -> Millis {
        self.texts.iter().find(|text| text.body.as_bytes() == body).map_or(Millis::ZERO, |text| text.delay)
    }
}

enum Said<'a> {
    Text(&'a RobotsText),
    Everything,
    Nothing,
    Failure,
}

fn allows(said: &Said<'_>, url: &Url) -> bool {
    match said {
        Said::Text(text) => !text.disallowed.iter().any(|path| url.path().starts_with(path)),
        Said::Everything => true,
        Said::Nothing | Said::Failure => false,
    }
}

fn base(url: &Url) -> String {
    format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default())
}

/// Decides about a URL as the model's address guard.
///
/// # Errors
/// Says why the URL is refused.
pub(super) fn vet(url: &str) -> Result<(), String> {
    let url = Url::parse(url).map_err(|e| e.to_string())?;
    match url.host() {
        Some(url::Host::Ipv4(ip)) if ip.is_private() || ip.is_loopback() || ip.is_link_local() => {
            Err(format!("{ip} is not public"))
        }
        Some(url::Host::Ipv6(ip)) => Err(format!("{ip} is not called")),
        Some(_) => Ok(()),
        None => Err("it has no host".to_owned()),
    }
}

fn network(why: &str) -> Result<Reply, FetchError> {
    Err(FetchError::Network(why.into()))
}

fn redirect(code: u16, to: &str) -> Reply {
    let mut reply = status(code);
    reply.headers.location = Some(to.to_owned());
    reply
}

fn picture() -> Bytes {
    static PICTURE: OnceLock<Bytes> = OnceLock::new();
    let draw = || {
        let mut png = Cursor::new(vec![]);
        let drawn = image::DynamicImage::new_luma8(48, 48).write_to(&mut png, image::ImageFormat::Png);
        drawn.unwrap_or_else(|error| panic!("no picture: {error}"));
        png.into_inner().into()
    };
    PICTURE.get_or_init(draw).clone()
}

fn sitemap(is_index: bool, links: &[String]) -> String {
    let (root, each) = if is_index { ("sitemapindex", "sitemap") } else { ("urlset", "url") };
    let links = links.iter().fold(String::new(), |mut all, link| {
        let _ = write!(all, "<{each}><loc>{link}</loc></{each}>");
        all
    });
    format!("<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{links}</{root}>")
}

fn home(feeds: &[String], head: &str) -> String {
    let links = feeds.iter().fold(head.to_owned(), |mut links, url| {
        let _ = write!(links, "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"{url}\">");
        links
    });
    format!(
        "<!doctype html><html lang=\"en\"><head><title>Home</title>{links}</head><body><p>Welcome.</p></body></html>"
    )
}

/// Word that appears in the text of a page once the page was revised.
pub(super) const REVISED_WORD: &str = "misprint";
/// Word that appears in the text of every page of the model web.
pub(super) const COMMON_WORD: &str = "estuary";

fn page_reply(page: &Page, now: Moment) -> Reply {
    if let Some((_, code)) = page.gone_from.filter(|(from, _)| *from <= now) {
        return status(code);
    }
    let noindex = page.noindex_from.is_some_and(|from| from <= now);
    let mut head = format!("<title>Walk number {}</title>", page.number);
    if let Some(image) = &page.image {
        let _ = write!(head, "<meta property=\"og:image\" content=\"{image}\">");
    }
    if let Some(url) = &page.canonical {
        let _ = write!(head, "<link rel=\"canonical\" href=\"{url}\">");
    }
    if noindex && !page.noindex_by_header {
        head.push_str("<meta name=\"robots\" content=\"noindex\">");
    }
    let revised = page.revised_from.is_some_and(|from| from <= now);
    let text = if page.short {
        "<p>Nothing to tell today.</p>".to_owned()
    } else {
        format!(
            "<p>On walk number {0} along the {COMMON_WORD} we counted the waders that came with the tide, and wrote \
             down where each of them stood and what it was looking for in the mud. The wind came from the west all \
             morning, so the birds kept close to the sea wall.</p><p>After noon the water went out again and the \
             flock moved to the far bank, out of sight of the path. We sat on the steps, drank tea from the flask, \
             and agreed to come back when the days grow longer.</p>{1}",
            page.number,
            if revised { format!("<p>The {REVISED_WORD} has been put right since.</p>") } else { String::new() }
        )
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><head>{head}</head><body><main><article><h1>Walk number {}</h1>{text}\
         </article></main></body></html>",
        page.number
    );
    let mut reply = document("text/html", body);
    if noindex && page.noindex_by_header {
        reply.headers.robots_tags.push("noindex".to_owned());
    }
    reply
}

/// Returns the heads of a request and its response, as a fetcher returns them that is told to keep them.
pub(super) fn exchange(call: &Call, reply: &Reply) -> Exchange {
    let path = Url::parse(&call.url).map(|url| url.path().to_owned()).unwrap_or_default();
    let media_type = reply.headers.content_type.as_deref().unwrap_or_default();
    Exchange {
        request: format!("GET {path} HTTP/1.1\r\naccept: text/html\r\n"),
        response: format!("HTTP/1.1 {} OK\r\ncontent-type: {media_type}\r\n", reply.status),
    }
}

/// Converts an instant to a moment of a run.
pub(super) fn moment(start: Timestamp, at: Timestamp) -> Moment {
    at.since(start).0
}

/// Minimum time until a machine that has crashed comes back.
pub(super) const A_MOMENT: Moment = MINUTE / 60;

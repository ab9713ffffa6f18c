//! The web of everyday use: feeds whose news arrive as a Poisson process at heavy-tailed rates, pages of usual size,
//! and answers that take time. Pages and images are those of the bundled web.

use super::access::lock;
use super::clock::now;
use super::history::{CYCLE, ENTRIES, History};
use super::processor::Processor;
use crate::aws::random::Random;
use crate::http::get;
use crate::web::Web;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_fixtureweb::{Farm, Uniform};
use curlew_model::{Failure, FailureCause, Millis, Timestamp, Validators};
use curlew_policy::address;
use curlew_ports::{Call, CallKind, Fetch, FetchError, Reply, ReplyHeaders};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;

/// The platforms that the settings name by default.
const PLATFORMS: [&str; 5] = address::PLATFORMS;
/// Percentage of feeds that are on platforms.
const ON_PLATFORMS: u64 = 20;
/// Time of the first call to a host, including DNS, TCP and TLS, and of later calls, in seconds: the median, and the
/// standard deviation of the logarithm.
const FIRST_CALL: (f64, f64) = (0.6, 0.75);
const LATER_CALL: (f64, f64) = (0.33, 0.5);
/// Maximum time of a call, in seconds.
const LONGEST_CALL: f64 = 20.0;
/// Time for which an idle connection stays open.
const KEPT: Duration = Duration::from_secs(90);
/// One of this many visits cannot reach its host and waits for [`CONNECT_LIMIT`]. Platforms are always reachable,
/// because a hold on one would outlast the simulation and hide the cost of its polls.
const DEAD_ONE_IN: u64 = 333;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Size of a page in bytes.
const PAGE_BYTES: usize = 100 * 1024;
/// Number of sites of the bundled web, and of pages of each.
const FARM: (u64, u64) = (40, 1_000);
/// Number of pages in ten whose answers carry a validator.
const WITH_VALIDATOR: u64 = 6;
/// Bytes that we send, including IP and TCP headers, for a connection and its first request, and for each further
/// request. The measured values are 967 and 346 with TLS 1.3 and HTTP/1.1; HTTP/2 and the end of a connection add some.
const OUT_FIRST: u64 = 1_400;
const OUT_LATER: u64 = 400;
/// Bytes of an acknowledgement, which we send for each two received segments, and bytes of two segments.
const OUT_ACKNOWLEDGED: u64 = 52;
const TWO_SEGMENTS: u64 = 2_920;
/// Ratio of the size of a text to its compressed size.
const PACKED: u64 = 4;

/// Calls to sites.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Number of calls of feeds.
    pub polls: u64,
    /// Number of calls of feeds that had a new entry.
    pub news: u64,
    /// Number of calls of robots.txt.
    pub robots: u64,
    /// Number of calls of pages.
    pub pages: u64,
    /// Number of calls of images.
    pub images: u64,
    /// Number of calls that could not reach a host.
    pub dead: u64,
    /// Number of bytes sent to sites.
    pub bytes_out: u64,
    /// Number of bytes received from sites, decompressed.
    pub bytes_in: u64,
}

impl Traffic {
    /// Returns the sum of both.
    #[must_use]
    pub fn and(&self, other: &Traffic) -> Traffic {
        Traffic {
            polls: self.polls + other.polls,
            news: self.news + other.news,
            robots: self.robots + other.robots,
            pages: self.pages + other.pages,
            images: self.images + other.images,
            dead: self.dead + other.dead,
            bytes_out: self.bytes_out + other.bytes_out,
            bytes_in: self.bytes_in + other.bytes_in,
        }
    }
}

/// A feed and its site.
#[derive(Debug)]
struct Site {
    number: u64,
    /// Mean number of new entries in a cycle of eight hours.
    rate: f64,
    /// Times at which the entries were published.
    published: Vec<Timestamp>,
    /// Time between two polls, and the time up to which entries have been drawn.
    interval: Millis,
    until: Timestamp,
}

/// The whole web.
pub(super) struct Sites {
    farm: Web,
    state: Mutex<WebState>,
}

struct WebState {
    dice: Random,
    by_host: HashMap<String, Site>,
    traffic: Traffic,
}

impl Sites {
    pub(super) fn new(seed: u64) -> Sites {
        let spec = Uniform {
            hosts: FARM.0 as usize,
            pages: FARM.1 as usize,
            bytes: PAGE_BYTES,
            images: true,
            prefix: "steady".to_owned(),
        };
        let farm = Web::of(Farm::keyed(&spec, &(1..=spec.hosts).collect::<Vec<_>>()));
        let state = WebState { dice: Random::new(seed), by_host: HashMap::new(), traffic: Traffic::default() };
        Sites { farm, state: Mutex::new(state) }
    }

    pub(super) fn feed(number: u64) -> String {
        match number % 100 < ON_PLATFORMS {
            true => format!("https://paper-{number}.{}/feed.xml", PLATFORMS[(number / 100 % 5) as usize]),
            false => format!("https://paper-{number}.test/feed.xml"),
        }
    }

    pub(super) fn add(&self, histories: Vec<History>) {
        let mut state = lock(&self.state);
        for History { number, rate, published } in histories {
            let site = Site { number, rate, published, interval: Millis::ZERO, until: now() };
            let host = Url::parse(&Sites::feed(number)).unwrap().host_str().unwrap().to_owned();
            state.by_host.insert(host, site);
        }
    }

    /// Dates the last poll of a feed one interval before `at`, and limits the news of later polls to one interval. The
    /// feed is not polled between two windows, and the news of all that time would be more than any real poll finds.
    pub(super) fn polled_before(&self, feed: u64, at: Timestamp, interval: Millis) {
        let host = Url::parse(&Sites::feed(feed)).unwrap();
        let mut state = lock(&self.state);
        let site = state.by_host.get_mut(host.host_str().unwrap()).expect("the site was added");
        (site.interval, site.until) = (interval, at - interval);
    }

    /// Returns the traffic since the last call of this function.
    pub(super) fn take_traffic(&self) -> Traffic {
        std::mem::take(&mut lock(&self.state).traffic)
    }

    fn reply(&self, call: &Call, url: &Url) -> Reply {
        let state = &mut *lock(&self.state);
        let Some(site) = state.by_host.get_mut(url.host_str().unwrap_or_default()) else { return status(404) };
        let home = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        let reply = match call.kind {
            CallKind::Robots => {
                state.traffic.robots += 1;
                document(call, "text/plain", robots(site.number), Some("\"robots-1\"".to_owned()))
            }
            CallKind::Feed => {
                state.traffic.polls += 1;
                let passed = now().since(site.until).min(site.interval);
                let news = state.dice.poisson(site.rate * passed.0 as f64 / CYCLE.0 as f64);
                // News arrive at random times since the last poll.
                let mut times: Vec<_> = (0..news).map(|_| now() - Millis(state.dice.below(passed.0.max(1)))).collect();
                times.sort_unstable();
                site.published.extend(times);
                site.until = now();
                state.traffic.news += u64::from(news > 0);
                let tag = format!("\"{}\"", site.published.len());
                document(call, "application/rss+xml", feed(&home, &site.published), Some(tag))
            }
            CallKind::Page => {
                state.traffic.pages += 1;
                let number = url.path().trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap_or(0);
                let tag = ((site.number + number) % 10 < WITH_VALIDATOR).then(|| format!("\"{number}\""));
                let (farm_host, path) = place(site.number, number, "news", "html");
                let html = self.get(&farm_host, &path);
                let html = String::from_utf8_lossy(&html).replace(&format!("http://{farm_host}"), &home);
                // A page names itself, not the page of the bundled web that has the same content.
                let html = html.replace(&format!("{home}{path}"), &format!("{home}/news/{number}.html"));
                document(call, "text/html; charset=utf-8", html.into(), tag)
            }
            CallKind::Image => {
                state.traffic.images += 1;
                let number = url.path().trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap_or(0);
                let (farm_host, path) = place(site.number, number, "images", "jpg");
                document(call, "image/jpeg", self.get(&farm_host, &path), None)
            }
            _ => status(404),
        };
        let received = reply.body.len() as u64;
        state.traffic.bytes_in += received;
        let on_the_way = if call.kind == CallKind::Image { received } else { received / PACKED };
        state.traffic.bytes_out += on_the_way.div_ceil(TWO_SEGMENTS) * OUT_ACKNOWLEDGED;
        reply
    }

    fn get(&self, host: &str, path: &str) -> Bytes {
        let answer = get(self.farm.addr(), &format!("http://{host}{path}"));
        assert_eq!(answer.status, 200, "{host}{path}");
        answer.body.into()
    }
}

/// Returns the host and the path in the bundled web for a page or image of a site of this web.
fn place(site: u64, number: u64, folder: &str, extension: &str) -> (String, String) {
    let page = (site / FARM.0 * 31 + number) % FARM.1;
    (format!("steady-{:04}.test", site % FARM.0 + 1), format!("/{folder}/{page}.{extension}"))
}

fn document(call: &Call, kind: &str, body: Bytes, tag: Option<String>) -> Reply {
    let validators = Validators { etag: tag, last_modified: None };
    let headers = ReplyHeaders { content_type: Some(kind.to_owned()), validators, ..ReplyHeaders::default() };
    if headers.validators.etag.is_some() && call.validators.etag == headers.validators.etag {
        return Reply { status: 304, headers, ..Reply::default() };
    }
    Reply { status: 200, headers, body, ..Reply::default() }
}

fn status(status: u16) -> Reply {
    Reply { status, ..Reply::default() }
}

/// Returns a robots.txt of usual size: between one and two kilobytes.
fn robots(site: u64) -> Bytes {
    let mut dice = Random::new(site);
    let mut text = String::from("User-agent: *\n");
    let wanted = 1_000 + dice.below(1_000) as usize;
    while text.len() < wanted {
        let word = |dice: &mut Random| {
            ["admin", "login", "search", "cart", "tag", "feed", "private", "tmp"][dice.below(8) as usize]
        };
        let (first, second) = (word(&mut dice), word(&mut dice));
        let _ = writeln!(text, "Disallow: /wp-{first}/{second}-{:x}/", dice.below(1 << 20));
    }
    text.into()
}

/// Returns a feed with the last entries. The entries from the start are pages of another site, so the first poll, for
/// which all are new, fetches no page.
fn feed(home: &str, published: &[Timestamp]) -> Bytes {
    let mut text =
        format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Paper</title><link>{home}/</link>");
    for (number, at) in published.iter().enumerate().rev().take(ENTRIES) {
        let (home, at) = (if number < ENTRIES { "https://before.example" } else { home }, at.http_date());
        let _ = write!(
            text,
            "<item><title>Entry {number} of this paper</title><link>{home}/news/{number}.html</link>\
             <guid>{home}/news/{number}.html</guid><pubDate>{at}</pubDate><description>The first sentence of entry {number}, and \
             the beginning of its second one.</description></item>"
        );
    }
    text.push_str("</channel></rss>");
    text.into()
}

/// The web for one execution environment, which has connections of its own.
pub(super) struct Caller {
    sites: Arc<Sites>,
    processor: Arc<Processor>,
    connections: Mutex<HashMap<String, Instant>>,
}

impl Caller {
    pub(super) fn new(sites: Arc<Sites>, processor: Arc<Processor>) -> Caller {
        Caller { sites, processor, connections: Mutex::default() }
    }

    /// Records a connection to a host; returns true if the connection is new.
    fn connect(&self, host: &str) -> bool {
        let mut connections = lock(&self.connections);
        connections.retain(|_, used| used.elapsed() < KEPT);
        connections.insert(host.to_owned(), Instant::now()).is_none()
    }

    /// Draws the time of a call, or `None` if the host is out of reach.
    fn draw(&self, host: &str, is_new: bool) -> Option<Duration> {
        let state = &mut *lock(&self.sites.state);
        state.traffic.bytes_out += if is_new { OUT_FIRST } else { OUT_LATER };
        let is_on_platform = PLATFORMS.iter().any(|platform| host.ends_with(platform));
        if is_new && !is_on_platform && state.dice.below(DEAD_ONE_IN) == 0 {
            state.traffic.dead += 1;
            return None;
        }
        let (median, deviation) = if is_new { FIRST_CALL } else { LATER_CALL };
        let seconds = median * (deviation * state.dice.normal()).exp();
        Some(Duration::from_secs_f64(seconds.min(LONGEST_CALL)))
    }
}

#[async_trait]
impl Fetch for Caller {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let url = Url::parse(&call.url).map_err(|error| FetchError::Refused(error.to_string()))?;
        let host = url.host_str().unwrap_or_default();
        let is_new = self.connect(host);
        let Some(time) = self.draw(host, is_new) else {
            sleep(CONNECT_LIMIT).await;
            lock(&self.connections).remove(host);
            return Err(FetchError::Network(Failure::new(FailureCause::Timeout, "no connection in time".to_owned())));
        };
        sleep(time).await;
        self.processor.visited(call.kind, is_new).await;
        let took = Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Ok(Reply { took, ..self.sites.reply(call, &url) })
    }

    fn vet(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

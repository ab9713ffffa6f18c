//! The numbers that are promises, as one typed struct with its defaults.

use curlew_model::Millis;
use serde::{Deserialize, Serialize};

/// Maximum number of held URLs that a host's state remembers: it has to stay small.
pub(crate) const MAX_URL_HOLDS: usize = 8;

/// All numbers that the decisions of this crate depend on. The defaults are the promises of the README.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Least time from the end of one call to a host key to the start of the next.
    pub min_pause: Millis,
    /// Bounds of the uniform jitter that the pause is drawn from.
    pub jitter: (Millis, Millis),
    /// Mean of the exponential gap (Poisson arrivals) that the pause is drawn from; zero switches it off.
    pub poisson_mean: Millis,
    /// A Crawl-delay above this counts as this.
    pub crawl_delay_cap: Millis,
    /// The pause is at least so many times the host's own last response time.
    pub response_factor: f64,
    /// Calls that one host key may take before the refill rate rules.
    pub burst: u32,
    /// Time after which the burst allowance grows by one call.
    pub refill: Millis,
    /// The most time that one call may take.
    pub call_time: Millis,
    /// The most time that one visit spends before it sends on what is left. A page with all its redirects, or a home
    /// page and its first feed, must fit in with the longest Crawl-delay between two calls, or they never end.
    pub slice: Millis,
    /// How far a lease outlasts its last call.
    pub lease_margin: Millis,
    /// How long the lease of a poll lasts that is not given back if there was nothing to tell. Long enough for robots.txt
    /// and the feed with usual answers; where that is not enough, the visit asks for the rest of a lease's usual length.
    pub brief_lease: Millis,
    /// A host key whose last visit ended less than this ago is likely to have other work waiting, so that even a poll
    /// gives its lease back.
    #[serde(alias = "often")]
    pub return_lease_within: Millis,
    /// The most that a visit waits for its first call; a visit that would wait longer is deferred.
    #[serde(alias = "patience")]
    pub max_first_wait: Millis,
    /// How soon a job whose host key is leased to another visit is tried again, at least.
    pub busy_retry: Millis,
    /// The most time under lease within one [`Rules::window`].
    pub window_limit: Millis,
    /// Length of a visit window.
    pub window: Millis,
    /// Hold after 402, 403, 429 and 451: of the URL, or of the host key if the answer speaks for it.
    pub hold_refused: Millis,
    /// Hold after 5xx: of the URL, or of the host key if the answer speaks for it.
    pub hold_server_error: Millis,
    /// Hold after network trouble.
    pub hold_network: Millis,
    /// Hold after [`Rules::broken_limit`] URLs whose answers broke limits.
    pub hold_hostile: Millis,
    /// So many URLs that answer 402, 403 or 451 speak for their host key; each counts as long as it is held itself.
    pub forbidden_limit: u32,
    /// So many URLs that answer 5xx speak for their host key, as above; 503 does by itself.
    pub server_error_limit: u32,
    /// So many URLs whose answers are cut short or do not come, with no good answer in between, speak for their host key.
    pub cut_limit: u32,
    /// So many URLs whose answers break limits, with no good answer in between, speak for their host key.
    pub broken_limit: u32,
    /// How long what is left of a visit waits that ended because of one URL.
    pub visit_rest: Millis,
    /// The circuit of a host key opens after so many calls in a row that did not reach it.
    pub circuit_failures: u32,
    /// How long a host key is left alone after the first call that did not reach it; four times as long after each
    /// further one, until the circuit opens.
    pub network_backoff: Millis,
    /// Our own network is down if so many per cent of the host keys that were called last could not be reached.
    pub outage_percent: u32,
    /// At least so many host keys must have been called for that.
    pub outage_least: usize,
    /// So many host keys are looked at, those called last.
    pub outage_sample: usize,
    /// What was heard of a host key longer ago is not looked at.
    pub outage_window: Millis,
    /// While our own network is down, one visit is let through in so long, to see whether it is up again.
    pub outage_probe: Millis,
    /// While our own network is down, all other visits are put off for so long, and by chance for twice as long.
    pub outage_rest: Millis,
    /// How long a site whose start page is not found, or which has no feed, is left alone.
    pub hold_not_found: Millis,
    /// Retry-After above this counts as this.
    pub retry_after_cap: Millis,
    /// Holds double on repeats up to this.
    pub hold_cap: Millis,
    /// A job that found its host held this often in a row is given up.
    pub max_deferrals: u32,
    /// Redirects followed for pages, feeds and home pages.
    pub page_redirects: u32,
    /// Redirects followed for robots.txt (RFC 9309 §2.3.1.2).
    pub robots_redirects: u32,
    /// Calls that one new page may cost, its main image included.
    pub calls_per_page: u32,
    /// Feeds taken from a home page.
    pub feeds_per_site: usize,
    /// Least time between two polls of a feed that gives validators.
    pub poll_floor: Millis,
    /// Least time from a poll to the next one that a person asks for.
    pub poll_on_request: Millis,
    /// Usual time between two polls.
    pub poll_interval: Millis,
    /// Least time between two polls of a feed that gives no validators.
    pub poll_interval_blind: Millis,
    /// Longest time between two polls.
    pub poll_cap: Millis,
    /// True if hubs are asked to tell of news (WebSub), where there is a public address for them to tell it to.
    pub websub: bool,
    /// Time between two polls of a feed while its hub tells of news.
    pub poll_interval_pushed: Millis,
    /// How long a hub is asked to tell of news; it grants what it likes.
    pub websub_lease: Millis,
    /// A hub that grants less is not worth its calls, and its offer is declined.
    pub websub_least_lease: Millis,
    /// How long a hub is left alone after a request that came to nothing; doubling up to [`Rules::hold_cap`].
    pub websub_retry: Millis,
    /// After so many requests in a row that came to nothing a hub is not asked about the feed again.
    pub websub_refusals: u32,
    /// True if hubs and our own address may be without TLS: for a network of one's own, since whoever listens learns the
    /// secret.
    pub websub_without_tls: bool,
    /// Entries of a feed that are looked at in one poll.
    pub entries_per_poll: usize,
    /// Keys of seen entries that a feed remembers.
    pub seen_ring: usize,
    /// True if a feed's own history decides how often it is polled, between [`Rules::poll_floor`] and
    /// [`Rules::poll_cap`], instead of [`Rules::poll_interval`].
    pub adaptive: bool,
    /// A permanent redirect of a feed is believed after it was counted so often in a row.
    pub moves_believed: u32,
    /// Two polls that count towards that are at least so far apart.
    pub moves_apart: Millis,
    /// The first wait after a feed was not found; it doubles up to [`Rules::poll_cap`].
    pub lost_interval: Millis,
    /// A feed that was not found, or refused, for so long is no longer polled.
    pub lost_after: Millis,
    /// After so many polls in a row that found something else in its place, a feed is polled less and less.
    pub suspect_after: u32,
    /// When nothing but 304s came for so long, one poll asks unconditionally whether they are true; doubling, up to
    /// eightfold, while they are. Zero switches it off. Longer than a week, so that the weekly news of a feed come before
    /// the check and not with it.
    pub verify_every: Millis,
    /// New entries that one feed may bring in a day; more wait for the next.
    pub entries_per_day: u32,
    /// How long an indexed page is left in peace between two re-checks.
    pub recheck_after: Millis,
    /// How long an indexed page may go without a re-check before it is due whatever else is; the samples pass it every 50 days
    /// at the default rate, so that each page is looked at twice a year at least.
    pub recheck_within: Millis,
    /// Time after which a second re-check confirms that something else stands in place of a page.
    #[serde(alias = "second_look")]
    pub confirm_after: Millis,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            min_pause: Millis::from_secs(1),
            jitter: (Millis(500), Millis(1_200)),
            poisson_mean: Millis::from_secs(1),
            crawl_delay_cap: Millis::from_secs(60),
            response_factor: 1.0,
            burst: 30,
            refill: Millis::from_secs(2),
            call_time: Millis::from_secs(30),
            slice: Millis::from_mins(4),
            lease_margin: Millis::from_secs(5),
            brief_lease: Millis::from_mins(1),
            return_lease_within: Millis::from_mins(15),
            max_first_wait: Millis::from_secs(10),
            busy_retry: Millis::from_secs(2),
            window_limit: Millis::from_hours(1),
            window: Millis::from_hours(8),
            hold_refused: Millis::from_hours(72),
            hold_server_error: Millis::from_hours(48),
            hold_network: Millis::from_hours(24),
            hold_hostile: Millis::from_hours(24),
            forbidden_limit: 2,
            server_error_limit: 2,
            cut_limit: 3,
            broken_limit: 5,
            visit_rest: Millis::from_hours(1),
            circuit_failures: 3,
            network_backoff: Millis::from_mins(15),
            outage_percent: 80,
            outage_least: 3,
            outage_sample: 8,
            outage_window: Millis::from_hours(1),
            outage_probe: Millis::from_mins(1),
            outage_rest: Millis::from_mins(5),
            hold_not_found: Millis::from_hours(24),
            retry_after_cap: Millis::from_days(7),
            hold_cap: Millis::from_days(14),
            max_deferrals: 6,
            page_redirects: 2,
            robots_redirects: 5,
            calls_per_page: 2,
            feeds_per_site: 3,
            poll_floor: Millis::from_hours(1),
            poll_on_request: Millis::from_mins(5),
            poll_interval: Millis::from_hours(8),
            poll_interval_blind: Millis::from_hours(24),
            poll_cap: Millis::from_days(7),
            websub: true,
            poll_interval_pushed: Millis::from_hours(24),
            websub_lease: Millis::from_days(10),
            websub_least_lease: Millis::from_days(1),
            websub_retry: Millis::from_hours(24),
            websub_refusals: 5,
            websub_without_tls: false,
            entries_per_poll: 500,
            seen_ring: 1_000,
            adaptive: false,
            moves_believed: 3,
            moves_apart: Millis::from_days(1),
            lost_interval: Millis::from_hours(24),
            lost_after: Millis::from_days(60),
            suspect_after: 3,
            verify_every: Millis::from_days(8),
            entries_per_day: 1_000,
            recheck_after: Millis::from_days(1),
            recheck_within: Millis::from_days(130),
            confirm_after: Millis::from_days(1),
        }
    }
}

impl Rules {
    /// How long a lease lasts: the slice, one call begun at its very end, and the margin.
    pub fn lease_length(&self) -> Millis {
        self.slice + self.call_time + self.lease_margin
    }

    /// How long the lease of a poll lasts: never longer than others.
    pub fn brief_length(&self) -> Millis {
        self.brief_lease.min(self.lease_length())
    }

    /// What in these numbers cannot be right, in words.
    ///
    /// # Errors
    /// The first number that contradicts another or that a promise forbids.
    pub fn check(&self) -> Result<(), String> {
        let wrong = |text: &str| Err(text.to_owned());
        if self.jitter.0 > self.jitter.1 {
            return wrong("the lower bound of the jitter is above its upper bound");
        }
        if self.burst == 0 || self.call_time == Millis::ZERO || self.slice == Millis::ZERO {
            return wrong("burst, call_time and slice must be above zero");
        }
        if self.slice <= (self.crawl_delay_cap + self.call_time).saturating_mul(u64::from(self.page_redirects)) {
            return wrong("slice must be longer than page_redirects times crawl_delay_cap and call_time together");
        }
        if !(0.0..=100.0).contains(&self.response_factor) {
            return wrong("response_factor must be from 0 to 100");
        }
        let limits = [self.forbidden_limit, self.server_error_limit, self.cut_limit, self.broken_limit];
        if limits.contains(&0) || limits.iter().any(|limit| *limit as usize > MAX_URL_HOLDS) {
            let most = MAX_URL_HOLDS;
            return Err(format!(
                "forbidden_limit, server_error_limit, cut_limit, broken_limit must be from 1 to {most}"
            ));
        }
        if self.circuit_failures == 0 || self.outage_least == 0 || self.outage_sample < self.outage_least {
            return wrong("circuit_failures and outage_least must be above zero, outage_sample at least outage_least");
        }
        if self.outage_percent == 0 || self.outage_percent > 100 {
            return wrong("outage_percent must be from 1 to 100");
        }
        if self.feeds_per_site == 0 || self.entries_per_poll == 0 || self.entries_per_day == 0 {
            return wrong("feeds_per_site, entries_per_poll and entries_per_day must be above zero");
        }
        if self.recheck_within < self.recheck_after {
            return wrong("recheck_within must not be shorter than recheck_after");
        }
        if self.poll_interval < self.poll_floor || self.poll_cap < self.poll_interval {
            return wrong("poll_floor, poll_interval and poll_cap must rise in this order");
        }
        if self.websub_lease < self.websub_least_lease || self.websub_least_lease == Millis::ZERO {
            return wrong("websub_least_lease must be above zero, and websub_lease no shorter");
        }
        if self.window_limit > self.window {
            return wrong("window_limit is longer than the window");
        }
        if self.seen_ring < self.entries_per_poll {
            return wrong("seen_ring must hold at least entries_per_poll keys");
        }
        Ok(())
    }
}

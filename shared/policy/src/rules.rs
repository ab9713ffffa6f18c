//! Numbers that the crawler promises to keep, as one typed struct with defaults.

use curlew_model::{Millis, with_defaults};
use serde::{Deserialize, Serialize};

pub(crate) const MAX_URL_HOLDS: usize = 8;

// These numbers are constants, not settings, since the rules are safe only with approximately these values.

/// Minimum delay before a job whose host key is leased to another visit is tried again.
pub const BUSY_RETRY: Millis = Millis::from_secs(2);
/// Maximum random delay before the first retry of a job whose host key is leased to another visit.
pub(crate) const BUSY_RETRY_MAX: Millis = Millis(BUSY_RETRY.0 * 3);
/// Maximum number of times that this delay doubles while the host key stays in use.
pub(crate) const BUSY_DOUBLINGS: u8 = 3;
/// Maximum delay before a job whose host key is in use is tried again.
pub const BUSY_LONGEST: Millis = Millis(BUSY_RETRY_MAX.0 << BUSY_DOUBLINGS);
/// Maximum time that a visit waits for its first call; a visit that would wait longer is deferred.
pub const MAX_FIRST_WAIT: Millis = Millis::from_secs(10);
/// Number of URLs on hold for a 202, 402, 403 or 451 at which the host key is put on hold.
pub const FORBIDDEN_LIMIT: u32 = 2;
/// Number of URLs on hold for a 5xx at which the host key is put on hold; a single 503 suffices.
pub const SERVER_ERROR_LIMIT: u32 = 2;
/// Number of URLs with truncated or missing answers, without a good answer in between, that hold the host key.
pub const CUT_LIMIT: u32 = 3;
/// Number of URLs with answers that break limits, without a good answer in between, that hold the host key.
pub const BROKEN_LIMIT: u32 = 5;
/// Rest of a host key after a refusal or server error of one URL, and delay of a visit that another failure ended.
pub const VISIT_REST: Millis = Millis::from_hours(1);
/// Number of consecutive calls that did not reach a host key after which its circuit opens.
pub const CIRCUIT_FAILURES: u32 = 3;
/// Wait of a host key after the first call that did not reach it; each further wait is four times as long.
pub const NETWORK_BACKOFF: Millis = Millis::from_mins(15);
/// Minimum percentage of unreachable host keys among those called last at which our own network counts as down.
pub const OUTAGE_PERCENT: u32 = 80;
/// Number of the most recently called host keys that are considered for [`OUTAGE_PERCENT`].
pub const OUTAGE_SAMPLE: usize = 8;
/// Maximum age of a result that is considered for [`OUTAGE_PERCENT`].
pub const OUTAGE_WINDOW: Millis = Millis::from_hours(1);
/// Interval at which one visit is let through while our own network is down, to see whether it is up again.
pub const OUTAGE_PROBE: Millis = Millis::from_mins(1);
/// Delay of all other visits while our own network is down, plus a random delay of up to the same length.
pub const OUTAGE_REST: Millis = Millis::from_mins(5);
/// Maximum number of redirects for robots.txt (RFC 9309 §2.3.1.2).
pub const ROBOTS_REDIRECTS: u32 = 5;
/// Maximum number of seen entries whose keys are kept per feed.
pub const SEEN_RING: usize = 1_000;
/// Minimum lease to accept from a hub; a shorter one is not worth its calls and is declined.
pub const WEBSUB_LEAST_LEASE: Millis = Millis::from_days(1);
/// Delay after the first failed request to a hub; it doubles up to [`Rules::hold_cap`].
pub const WEBSUB_RETRY: Millis = Millis::from_hours(24);
/// Number of consecutive failed requests for a feed after which its hub is not called again.
pub const WEBSUB_REFUSALS: u32 = 5;
/// Number of consecutive polls after which a permanent redirect of a feed is accepted.
pub const MOVES_BELIEVED: u32 = 3;
/// Minimum time between two polls that count towards [`MOVES_BELIEVED`].
pub const MOVES_APART: Millis = Millis::from_days(1);
/// Maximum number of pages in one visit of a backfill, so that a new post does not wait for more than these.
pub const BACKFILL_PORTION: usize = 20;
/// Maximum number of documents that a backfill reads.
pub const BACKFILL_DOCUMENTS: u32 = 10_000;
/// Maximum number of pages that a backfill sends, unless a person states another limit.
pub const BACKFILL_PAGES: u64 = 100_000;
/// Number of documents in a row without a new address or an older date after which a feed's archive has ended.
pub const BACKFILL_BARREN: u32 = 2;
/// Maximum number of indexes of sitemaps above a sitemap; sitemaps.org has one.
pub const BACKFILL_DEPTH: u8 = 3;
/// Number of failed steps in a row after which a document is skipped, or a backfill is given up.
pub const BACKFILL_TRIES: u32 = 6;
/// Number of consecutive polls that found something else than the feed, after which it is polled less and less.
pub const SUSPECT_AFTER: u32 = 3;

/// Number of known usual addresses of feeds, and so the maximum of [`Rules::usual_addresses`].
pub const MOST_USUAL_ADDRESSES: usize = 8;

with_defaults! {
    /// The numbers of politeness and polling that an operator can set; fixed numbers stand beside their decisions.
    /// `docs/reference/settings.md` promises the defaults.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Rules {
        /// Minimum time from the end of one call to a host key to the start of the next.
        pub min_pause: Millis = Millis::from_secs(1),
        /// Bounds of the uniform jitter from which the pause is drawn.
        pub jitter: (Millis, Millis) = (Millis(500), Millis(1_200)),
        /// Mean of the exponential gap (Poisson arrivals) from which the pause is drawn; zero disables it.
        pub poisson_mean: Millis = Millis::from_secs(1),
        /// Maximum Crawl-delay for the pause; a longer one is the minimum poll interval of the host's feeds instead.
        pub crawl_delay_cap: Millis = Millis::from_mins(10),
        /// Minimum pause as a multiple of the host's last response time.
        pub response_factor: f64 = 1.0,
        /// Number of calls to one host key before the refill rate applies.
        pub burst: u32 = 30,
        /// Time after which the burst allowance grows by one call.
        pub refill: Millis = Millis::from_secs(2),
        /// Maximum duration of one call.
        pub call_time: Millis = Millis::from_secs(30),
        /// Maximum time of a visit before it defers the rest; if the pause is longer, a visit makes one call.
        pub slice: Millis = Millis::from_mins(4),
        /// Minimum time by which a lease outlasts its last call.
        pub lease_margin: Millis = Millis::from_secs(5),
        /// Length of a poll's lease, which is not returned if nothing was learned; a visit lengthens it if needed.
        pub brief_lease: Millis = Millis::from_mins(1),
        /// Time since the last visit within which other jobs probably wait, so that even a poll returns its lease.
        pub return_lease_within: Millis = Millis::from_mins(15),
        /// Maximum time under lease within any [`Rules::window`].
        pub window_limit: Millis = Millis::from_hours(1),
        /// Length of the sliding window for [`Rules::window_limit`].
        pub window: Millis = Millis::from_hours(8),
        /// Hold after 202, 402, 403, 429 and 451: of the URL, or of the host key if the answer concerns the whole host.
        pub hold_refused: Millis = Millis::from_hours(72),
        /// Hold after 5xx: of the URL, or of the host key if the answer concerns the whole host.
        pub hold_server_error: Millis = Millis::from_hours(48),
        /// Hold after network failures.
        pub hold_network: Millis = Millis::from_hours(24),
        /// Hold after [`BROKEN_LIMIT`] URLs whose answers exceeded limits.
        pub hold_hostile: Millis = Millis::from_hours(24),
        /// Minimum number of recently called host keys for detecting an outage of our own network.
        pub outage_least: usize = 3,
        /// Hold of a site whose home page is not found, or which has no feed.
        pub hold_not_found: Millis = Millis::from_hours(24),
        /// Maximum Retry-After; a longer one is reduced to this.
        pub retry_after_cap: Millis = Millis::from_days(7),
        /// Maximum hold; repeated holds double up to this.
        pub hold_cap: Millis = Millis::from_days(14),
        /// Number of consecutive deferrals because of a host on hold after which a job is given up.
        pub max_deferrals: u32 = 6,
        /// Maximum number of redirects for pages, feeds and home pages.
        pub page_redirects: u32 = 2,
        /// Maximum number of calls for one new page, including its main image.
        pub calls_per_page: u32 = 2,
        /// Maximum number of feeds taken from a home page.
        pub feeds_per_site: usize = 3,
        /// Number of usual addresses to try if a home page names no working feed; at most [`MOST_USUAL_ADDRESSES`].
        pub usual_addresses: usize = 5,
        /// Minimum time between two polls of a feed with validators.
        pub poll_floor: Millis = Millis::from_hours(1),
        /// Minimum time between a poll and the next one on a person's request.
        pub poll_on_request: Millis = Millis::from_mins(5),
        /// Time between two polls of a feed without a history, and of all feeds without [`Rules::adaptive`].
        pub poll_interval: Millis = Millis::from_hours(8),
        /// Minimum time between two polls of a feed without validators.
        pub poll_interval_blind: Millis = Millis::from_hours(24),
        /// Maximum time between two polls.
        pub poll_cap: Millis = Millis::from_days(7),
        /// True to subscribe to hubs (WebSub), if there is a public address for notifications.
        pub websub: bool = true,
        /// Time between two polls of a feed with an active hub subscription.
        pub poll_interval_pushed: Millis = Millis::from_hours(24),
        /// Lease requested from a hub, which may grant a different one.
        pub websub_lease: Millis = Millis::from_days(10),
        /// True to allow hubs and our own address without TLS, in a private network: an eavesdropper learns the secret.
        pub websub_without_tls: bool = false,
        /// Maximum number of entries of a feed that are examined in one poll.
        pub entries_per_poll: usize = 500,
        /// True if a feed's history determines its interval, instead of [`Rules::poll_interval`]; hints lengthen it.
        pub adaptive: bool = true,
        /// First delay after a feed was not found; it doubles up to [`Rules::poll_cap`].
        pub lost_interval: Millis = Millis::from_hours(24),
        /// Time after which a feed that is not found, or refused, is no longer polled.
        pub lost_after: Millis = Millis::from_days(60),
        /// Time with only 304 answers after which one poll is unconditional; it doubles up to eightfold, and zero
        /// disables it. It is longer than a week, so that weekly news come before the check.
        pub verify_every: Millis = Millis::from_days(8),
        /// Maximum number of new entries of one feed per day; further entries wait for the next day.
        pub entries_per_day: u32 = 1_000,
        /// True to read the back catalogue of every site and feed that becomes known.
        pub backfill: bool = false,
        /// Maximum number of pages and documents of back catalogues per host key and day.
        pub backfill_per_day: u32 = 500,
        /// Minimum time between two re-checks of an indexed page.
        pub recheck_after: Millis = Millis::from_days(1),
        /// Maximum time without a re-check; at the default rate, samples consider each page every 50 days.
        pub recheck_within: Millis = Millis::from_days(130),
        /// Time after which a second re-check confirms that something else has replaced a page.
        pub confirm_after: Millis = Millis::from_days(1),
    }
}

impl Rules {
    /// Returns the length of a lease: the slice, one call that begins at the end of the slice, and the margin.
    pub fn lease_length(&self) -> Millis {
        self.slice + self.call_time + self.lease_margin
    }

    /// Returns the length of a poll's lease, which is at most that of other leases.
    pub fn brief_length(&self) -> Millis {
        self.brief_lease.min(self.lease_length())
    }

    /// Returns the length of the shortest useful lease: one call, and the margin.
    pub(crate) fn least_lease(&self) -> Millis {
        self.call_time + self.lease_margin
    }

    /// Checks the numbers; the error describes the first that contradicts another number or a promise.
    pub fn check(&self) -> Result<(), String> {
        let zero = Millis::ZERO;
        let page_time = self.call_time.saturating_mul(u64::from(self.page_redirects));
        let most_addresses = format!("usual_addresses must be at most {MOST_USUAL_ADDRESSES}");
        let most_entries = format!("entries_per_poll must be at most {SEEN_RING}");
        let is_idle = self.burst == 0 || self.call_time == zero || self.slice == zero;
        let takes_nothing = self.feeds_per_site == 0 || self.entries_per_poll == 0 || self.entries_per_day == 0;
        let falls = self.poll_interval < self.poll_floor || self.poll_cap < self.poll_interval;
        let no_history = "backfill_per_day must be above zero; without `backfill` and `--history` nothing is read";
        let short_limit = "window_limit must be at least call_time and lease_margin together";
        let problems = [
            (self.jitter.0 > self.jitter.1, "the lower bound of the jitter is above its upper bound"),
            (is_idle, "burst, call_time and slice must be above zero"),
            (self.slice <= page_time, "slice must be longer than page_redirects times call_time"),
            (!(0.0..=100.0).contains(&self.response_factor), "response_factor must be from 0 to 100"),
            (self.outage_least == 0, "outage_least must be above zero"),
            (takes_nothing, "feeds_per_site, entries_per_poll and entries_per_day must be above zero"),
            (self.usual_addresses > MOST_USUAL_ADDRESSES, &most_addresses),
            (self.backfill_per_day == 0, no_history),
            (self.recheck_within < self.recheck_after, "recheck_within must not be shorter than recheck_after"),
            (falls, "poll_floor, poll_interval and poll_cap must rise in this order"),
            (self.websub_lease < WEBSUB_LEAST_LEASE, "websub_lease must be at least a day"),
            (self.window_limit > self.window, "window_limit is longer than the window"),
            (self.window_limit < self.least_lease(), short_limit),
            (SEEN_RING < self.entries_per_poll, &most_entries),
        ];
        let problem = problems.iter().find(|(is_wrong, _)| *is_wrong);
        problem.map_or(Ok(()), |(_, words)| Err((*words).to_owned()))
    }
}

//! Decides whether a redirect is followed; no URL is called twice in one chain.

use crate::address::{self, BadAddress};
use crate::politeness::outcome::{CallTarget, Role};
use curlew_model::{PendingRedirect, Timestamp};
use url::Url;

/// The hops of a chain of redirects so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    visited: Vec<Url>,
    permanent: bool,
    limit: u32,
}

/// Maximum total length in bytes of the URLs that are remembered of one chain.
const MAX_PENDING_BYTES: usize = 300;

/// Maximum delay in seconds of a refresh that counts as a redirect.
const REFRESH_SECONDS: u32 = 5;

/// Reason for not following a redirect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowed {
    /// More hops than the limit.
    #[error("too many redirects")]
    TooMany,
    /// Back to a URL that was called before.
    #[error("the redirects go round in a circle")]
    Circle,
    /// The answer has no Location.
    #[error("no target is named")]
    NoLocation,
    /// The Location must not be called, for example because of its scheme.
    #[error("the target cannot be called: {0}")]
    BadLocation(BadAddress),
}

/// True if a status is a redirect that is followed (RFC 9110 §15.4); 300, 304, 305 and 306 are not.
pub const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// True if a refresh counts as a redirect: it has no delay, or a short one where no article was requested.
pub const fn is_refresh_followed(seconds: u32, is_article: bool) -> bool {
    seconds == 0 || (!is_article && seconds <= REFRESH_SECONDS)
}

impl Chain {
    /// Returns a chain that begins at `start` and may have `limit` hops.
    pub fn new(start: Url, limit: u32) -> Chain {
        Chain { visited: vec![start], permanent: true, limit }
    }

    /// Returns the first URL of the chain.
    pub fn start(&self) -> &Url {
        &self.visited[0]
    }

    /// Returns the URL to call now.
    pub fn current(&self) -> &Url {
        &self.visited[self.visited.len() - 1]
    }

    /// Returns the state with which a later visit can continue the chain; `None` without a hop, or if it is too long.
    pub(super) fn pending(&self, until: Timestamp) -> Option<PendingRedirect> {
        let [start, targets @ ..] = &self.visited[..] else { return None };
        let targets: Vec<String> = targets.iter().map(|url| url.as_str().to_owned()).collect();
        let bytes: usize = targets.iter().map(String::len).sum();
        let is_kept = (1..=MAX_PENDING_BYTES).contains(&bytes);
        let url = CallTarget::new(start.as_str(), Role::Document).url;
        is_kept.then_some(PendingRedirect { url, targets, is_permanent: self.permanent, until })
    }

    /// Returns the number of hops so far.
    pub fn hops(&self) -> usize {
        self.visited.len() - 1
    }

    /// Returns true if there were hops and each of them was permanent (301 or 308).
    pub fn is_permanent(&self) -> bool {
        self.permanent && self.hops() > 0
    }

    /// Returns the chain, continued as far as an earlier visit had followed it.
    #[must_use]
    pub(super) fn resumed(self, remembered: Option<&PendingRedirect>) -> Chain {
        let Some(remembered) = remembered else { return self };
        let status = if remembered.is_permanent { 301 } else { 302 };
        let mut chain = self.clone();
        for target in &remembered.targets {
            if chain.follow(status, Some(target)).is_err() {
                return self;
            }
        }
        chain
    }

    /// Adds a hop and returns the URL to call next, or the reason why the chain ends here.
    pub fn follow(&mut self, status: u16, location: Option<&str>) -> Result<&Url, NotFollowed> {
        if self.hops() as u64 >= u64::from(self.limit) {
            return Err(NotFollowed::TooMany);
        }
        let location = location.map(str::trim).filter(|l| !l.is_empty()).ok_or(NotFollowed::NoLocation)?;
        let next = address::parse(location, Some(self.current())).map_err(NotFollowed::BadLocation)?;
        if self.visited.contains(&next) {
            return Err(NotFollowed::Circle);
        }
        self.permanent &= matches!(status, 301 | 308);
        self.visited.push(next);
        Ok(self.current())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(limit: u32) -> Chain {
        Chain::new(address::parse("https://example.org/a", None).unwrap_or_else(|e| panic!("{e}")), limit)
    }

    #[test]
    fn hops_are_resolved_and_counted() {
        let mut c = chain(2);
        assert_eq!(c.follow(301, Some("/b")).map(Url::as_str), Ok("https://example.org/b"));
        assert!(c.is_permanent());
        assert_eq!(c.follow(302, Some("//other.example/c")).map(Url::as_str), Ok("https://other.example/c"));
        assert!(!c.is_permanent());
        assert_eq!(c.follow(302, Some("/d")), Err(NotFollowed::TooMany));
    }

    #[test]
    fn u23_u24_circles_and_bad_targets_end_the_chain() {
        assert_eq!(chain(5).follow(302, Some("/a")), Err(NotFollowed::Circle));
        for none in [None, Some(""), Some("  ")] {
            assert_eq!(chain(5).follow(302, none), Err(NotFollowed::NoLocation), "{none:?}");
        }
        for bad in ["file:///etc/passwd", "gopher://x/", "data:text/html,x", "http://u:p@h.example/"] {
            assert!(matches!(chain(5).follow(302, Some(bad)), Err(NotFollowed::BadLocation(_))), "{bad:?}");
        }
    }
}

//! Finds the caller of a request that came through reverse proxies. Only `X-Forwarded-For` is read, and only behind a
//! proxy that the operator names. Proxies that write it pass `Forwarded` (RFC 7239) on unchanged, so any caller could
//! deceive a server that read both.

use axum::http::header::{FORWARDED, HeaderName, VIA};
use axum::http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// The list of hops that a request came through, the nearest last.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Headers that show that a proxy passed a request on.
const MARKS: [HeaderName; 4] = [FORWARDED_FOR, FORWARDED, VIA, HeaderName::from_static("x-real-ip")];
/// Maximum number of hops that are examined, starting with the nearest.
const MAX_HOPS: usize = 16;

/// The reverse proxies that are trusted to name a caller's address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Trusts the proxies in these address ranges.
    pub fn new(ranges: Vec<IpNet>) -> Proxies {
        Proxies(ranges)
    }

    /// True if the address is that of a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(&address))
    }

    /// Returns the address of the caller of a request from `peer`: the nearest hop that is not a trusted proxy. `None`
    /// if no trusted proxy names it, or if an untrusted proxy on this machine passed the request on.
    pub fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        if self.trusts(peer) {
            let hops = headers.get_all(FORWARDED_FOR).iter().rev().flat_map(hops);
            let first_untrusted = hops.take(MAX_HOPS).find(|hop| hop.is_none_or(|hop| !self.trusts(hop)));
            return first_untrusted.flatten();
        }
        let is_passed_on = peer.is_loopback() && MARKS.iter().any(|mark| headers.contains_key(mark));
        (!is_passed_on).then_some(peer)
    }
}

/// Returns the hops of one header line, nearest first; `None` stands for a hop that is not an address.
fn hops(line: &HeaderValue) -> impl Iterator<Item = Option<IpAddr>> + '_ {
    line.to_str().unwrap_or_default().rsplit(',').map(|hop| address(hop.trim()))
}

/// Parses an address with or without a port, which some proxies add.
fn address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    let address = bare.parse().ok().or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn caller(trusted: &[&str], peer: &str, lines: &[(&str, &str)]) -> Option<String> {
        let proxies = Proxies::new(trusted.iter().map(|range| range.parse().unwrap()).collect());
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        proxies.caller(peer.parse().unwrap(), &headers).map(|address| address.to_string())
    }

    #[test]
    fn without_a_trusted_proxy_no_header_says_who_calls() {
        let claims =
            ["x-forwarded-for 203.0.113.9", "forwarded for=203.0.113.9", "x-real-ip 203.0.113.9", "via 1.1 caddy"];
        let claims = claims.map(|claim| claim.split_once(' ').unwrap());
        for trusted in [&[][..], &["10.0.0.0/8"]] {
            assert_eq!(caller(trusted, "198.51.100.7", &claims).as_deref(), Some("198.51.100.7"));
        }
        for peer in ["127.0.0.1", "::ffff:127.0.0.1"] {
            assert_eq!(caller(&[], peer, &[]).as_deref(), Some("127.0.0.1"));
        }
        for claim in claims {
            for peer in ["127.0.0.1", "::1"] {
                assert_eq!(caller(&[], peer, &[claim]), None, "a proxy on this machine that is not named: {claim:?}");
            }
        }
    }

    #[test]
    fn behind_trusted_proxies_the_last_hop_that_is_none_of_them_calls() {
        let (local, chain) = (&["127.0.0.1/32"][..], &["127.0.0.0/8", "10.0.0.0/8", "2001:db8::/64"][..]);
        let endless = format!("203.0.113.9{}", ", 127.0.0.1".repeat(MAX_HOPS));
        for (trusted, line, expected) in [
            (local, "203.0.113.9", "203.0.113.9"),
            // The caller may have forged everything before the last hop.
            (local, "1.2.3.4, 203.0.113.9", "203.0.113.9"),
            (chain, "1.2.3.4, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
            (chain, "203.0.113.9,[2001:db8::5]:443", "203.0.113.9"),
            (local, "203.0.113.9:1234", "203.0.113.9"),
            (local, "[2001:db8::1]", "2001:db8::1"),
            (local, "::ffff:203.0.113.9", "203.0.113.9"),
            // If the trusted proxy names no address, the caller is unknown.
            (local, "", ""),
            (local, "unknown", ""),
            (local, "1.2.3.4, _hidden", ""),
            (local, "1.2.3.4,", ""),
            (local, "127.0.0.1, 127.0.0.1", ""),
            (local, &endless, ""),
        ] {
            let found = caller(trusted, "127.0.0.1", &[("x-forwarded-for", line)]);
            assert_eq!(found.unwrap_or_default(), expected, "{line:?}");
        }
        let lines = [("x-forwarded-for", "1.2.3.4"), ("x-forwarded-for", "203.0.113.9, 10.0.0.1")];
        assert_eq!(caller(chain, "127.0.0.1", &lines).as_deref(), Some("203.0.113.9"), "several lines are one list");
        for headers in [&[][..], &[("forwarded", "for=203.0.113.9")]] {
            assert_eq!(caller(local, "127.0.0.1", headers), None);
        }
    }
}

//! Classifies addresses as public or not, by a strict reading of the IANA special-purpose registries (RFC 6890 and
//! successors).
//!
//! The few special blocks outside 2001::/23 that the registries call globally reachable (AS112, AMT) are public here.
//! `IpAddr::is_global` is not stable, and would not be enough: addresses that embed another one (NAT64, 6to4, Teredo,
//! ISATAP, IPv4-mapped) are refused here even if the embedded one is public, since sites do not need them.

use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::LazyLock;

/// The IANA IPv4 and IPv6 Special-Purpose Address Registries, the multicast and reserved classes, and one cloud's
/// metadata address. If one block contains another, the smaller one comes first.
const BLOCKS: [&str; 36] = [
    "0.0.0.0/8 (this network)",
    "10.0.0.0/8 (private)",
    "100.64.0.0/10 (carrier-grade NAT)",
    "127.0.0.0/8 (loopback)",
    "169.254.0.0/16 (link-local)",
    "172.16.0.0/12 (private)",
    "192.0.0.0/24 (protocol assignments)",
    "192.0.2.0/24 (documentation)",
    "192.88.99.0/24 (6to4 relays)",
    "192.168.0.0/16 (private)",
    "198.18.0.0/15 (benchmarks)",
    "198.51.100.0/24 (documentation)",
    "203.0.113.0/24 (documentation)",
    "168.63.129.16/32 (cloud metadata)",
    "224.0.0.0/4 (multicast)",
    "255.255.255.255/32 (broadcast)",
    "240.0.0.0/4 (reserved)",
    "::/128 (unspecified)",
    "::1/128 (loopback)",
    "::/96 (IPv4-compatible)",
    "::ffff:0:0/96 (IPv4-mapped)",
    "::ffff:0:0:0/96 (IPv4-translated)",
    "64:ff9b::/96 (NAT64)",
    "64:ff9b:1::/48 (local NAT64)",
    "100::/64 (discard)",
    "2001::/32 (Teredo)",
    "2001::/23 (protocol assignments)",
    "2001:db8::/32 (documentation)",
    "2002::/16 (6to4)",
    "3ffe::/16 (former 6bone)",
    "3fff::/20 (documentation)",
    "5f00::/16 (segment routing)",
    "fc00::/7 (unique local)",
    "fe80::/10 (link-local)",
    "fec0::/10 (site-local)",
    "ff00::/8 (multicast)",
];
/// Global unicast, the only part of IPv6 that IANA allocates (RFC 4291 §2.4).
const GLOBAL: &str = "2000::/3";

/// Checks that an address is a public unicast address of a host.
///
/// # Errors
/// The block that excludes the address.
pub fn classify(ip: IpAddr) -> Result<(), &'static str> {
    static NETS: LazyLock<[IpNet; BLOCKS.len()]> = LazyLock::new(|| BLOCKS.map(net));
    static UNICAST: LazyLock<IpNet> = LazyLock::new(|| net(GLOBAL));
    if let Some((_, block)) = NETS.iter().zip(BLOCKS).find(|(net, _)| net.contains(&ip)) {
        return Err(block);
    }
    match ip {
        IpAddr::V6(_) if !UNICAST.contains(&ip) => Err("outside 2000::/3 (not global unicast)"),
        // RFC 5214 §6.1: the interface identifier of ISATAP, with the universal bit clear or set.
        IpAddr::V6(v6) if matches!(v6.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]) => Err("::5efe:0:0 (ISATAP)"),
        _ => Ok(()),
    }
}

fn net(text: &str) -> IpNet {
    let written = text.split(' ').next().unwrap_or_default();
    written.parse().unwrap_or_else(|_| panic!("{written} is no network"))
}

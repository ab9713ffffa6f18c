//! Classification of addresses as public or not: the IANA special-purpose registries (RFC 6890 and successors), read
//! strictly.
//!
//! The few special blocks that the registries call globally reachable outside 2001::/23 (AS112, AMT) pass.
//! `IpAddr::is_global` is not stable; and it would not do, since addresses that embed another one (NAT64, 6to4,
//! Teredo, ISATAP, IPv4-mapped) are refused here even where the embedded one is public: a site has no need of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Succeeds if an address is a public unicast address of a host.
///
/// # Errors
/// The block which makes it none.
pub fn classify(ip: IpAddr) -> Result<(), &'static str> {
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => classify_v6(ip),
    }
}

/// IANA IPv4 Special-Purpose Address Registry, the multicast and reserved classes, and one cloud's metadata address.
const V4_BLOCKS: [(Ipv4Addr, u8, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "0.0.0.0/8 (this network)"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "10.0.0.0/8 (private)"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "100.64.0.0/10 (carrier-grade NAT)"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "127.0.0.0/8 (loopback)"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "169.254.0.0/16 (link-local)"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "172.16.0.0/12 (private)"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "192.0.0.0/24 (protocol assignments)"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "192.0.2.0/24 (documentation)"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "192.88.99.0/24 (6to4 relays)"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "192.168.0.0/16 (private)"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "198.18.0.0/15 (benchmarks)"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "198.51.100.0/24 (documentation)"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "203.0.113.0/24 (documentation)"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "168.63.129.16/32 (cloud metadata)"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "224.0.0.0/4 (multicast)"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "255.255.255.255/32 (broadcast)"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "240.0.0.0/4 (reserved)"),
];

/// IANA IPv6 Special-Purpose Address Registry. Blocks outside 2000::/3 are named for the sake of the reason only.
const V6_BLOCKS: [(Ipv6Addr, u8, &str); 19] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 128, "::/128 (unspecified)"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, "::1/128 (loopback)"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 96, "::/96 (IPv4-compatible)"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0]), 96, "::ffff:0:0/96 (IPv4-mapped)"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0]), 96, "::ffff:0:0:0/96 (IPv4-translated)"),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96, "64:ff9b::/96 (NAT64)"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, "64:ff9b:1::/48 (local NAT64)"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0]), 64, "100::/64 (discard)"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, "2001::/32 (Teredo)"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, "2001::/23 (protocol assignments)"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, "2001:db8::/32 (documentation)"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, "2002::/16 (6to4)"),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0]), 16, "3ffe::/16 (former 6bone)"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, "3fff::/20 (documentation)"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0]), 16, "5f00::/16 (segment routing)"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, "fc00::/7 (unique local)"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, "fe80::/10 (link-local)"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, "fec0::/10 (site-local)"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, "ff00::/8 (multicast)"),
];

/// Global unicast, the only part of IPv6 that IANA hands out (RFC 4291 §2.4).
const V6_GLOBAL: (Ipv6Addr, u8) = (v6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3);

fn classify_v4(ip: Ipv4Addr) -> Result<(), &'static str> {
    let inside = |(base, length, _): &&(Ipv4Addr, u8, &str)| {
        let mask = u32::MAX.checked_shl(32 - u32::from(*length)).unwrap_or(0);
        ip.to_bits() & mask == base.to_bits()
    };
    V4_BLOCKS.iter().find(inside).map_or(Ok(()), |(_, _, name)| Err(*name))
}

fn classify_v6(ip: Ipv6Addr) -> Result<(), &'static str> {
    if let Some((_, _, name)) = V6_BLOCKS.iter().find(|(base, length, _)| v6_inside(ip, *base, *length)) {
        return Err(name);
    }
    if !v6_inside(ip, V6_GLOBAL.0, V6_GLOBAL.1) {
        return Err("outside 2000::/3 (not global unicast)");
    }
    // RFC 5214 §6.1: the interface identifier of ISATAP, with the universal bit clear or set.
    if matches!(ip.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]) {
        return Err("::5efe:0:0 (ISATAP)");
    }
    Ok(())
}

fn v6_inside(ip: Ipv6Addr, base: Ipv6Addr, length: u8) -> bool {
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    ip.to_bits() & mask == base.to_bits()
}

const fn v6(s: [u16; 8]) -> Ipv6Addr {
    Ipv6Addr::new(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
}

//! Tests of the guard's decisions, without sockets.

use crate::guard::{
    Endpoint, Guard, HostPattern, MAX_URL_BYTES, Refusal, ResolveRule, classify, vet_addresses, vet_url,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn refusal(url: &str) -> Refusal {
    vet_url(url, &Guard::default()).expect_err(url)
}

fn is_address(url: &str) {
    assert!(matches!(refusal(url), Refusal::Address { .. }), "{url}: {:?}", refusal(url));
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn u01_u02_services_of_the_machine_stay_refused_whatever_is_allowed() {
    let mut rules = Guard {
        allow_nets: vec!["127.0.0.0/8".parse().unwrap()],
        refused_endpoints: ["127.0.0.1:9001", "LOCALHOST:2773", "daemon.test:2000", "[::1]:2000"]
            .map(|e| e.parse().unwrap())
            .to_vec(),
        resolve: vec!["*.test=127.0.0.1".parse().unwrap(), "localhost=127.0.0.1".parse().unwrap()],
        ..Guard::default()
    };
    rules.ports.insert(9001);
    for url in "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next \
        http://2130706433:9001/2020-01-01/extension/event/next http://localhost:2773/secretsmanager/get \
        http://localhost.:2773/ http://daemon.test:2000/ http://[::1]:2000/"
        .split(' ')
    {
        assert!(matches!(vet_url(url, &rules), Err(Refusal::Endpoint(_))), "{url}");
    }
    assert!(matches!(vet_addresses("rebound.example", &[ip("127.0.0.1")], &rules), Err(Refusal::Endpoint(_))));
    assert!(vet_url("http://127.0.0.2:9001/", &rules).is_ok());
    is_address("http://127.0.0.1:9001/2018-06-01/runtime/invocation/next");
}

#[test]
fn u03_to_u07_and_u09_to_u14_no_way_of_writing_an_address_gets_past() {
    for host in [
        // u03, u04: metadata and credentials
        "169.254.169.254 [fd00:ec2::254] 169.254.170.2 169.254.170.23 [fd00:ec2::23] 168.63.129.16",
        // u05: other bases and shorter forms
        "2130706433 0x7f.1 0177.0.0.1 127.1 0x7f000001 017700000001",
        // u06, u07: full-width and circled digits, ideographic dots, a trailing dot
        "１２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 127.0.0.1. %31%32%37.0.0.1",
        // u09, u10, u11: mapped, compatible, unspecified
        "[::ffff:169.254.169.254] [::ffff:7f00:1] [::ffff:8.8.8.8] [::127.0.0.1] [::] 0.0.0.0 0",
        // u12: other embeddings, including those of public addresses
        "[64:ff9b::a9fe:a9fe] [64:ff9b::808:808] [64:ff9b:1::1] [2002:7f00:1::] [2002:808:808::1] [2001::1]",
        "[2a00:1450:4001:81b:0:5efe:10.0.0.1] [2a00:1450:4001:81b:200:5efe:8.8.8.8]",
        // u13, u14: special blocks
        "100.64.0.1 198.18.0.1 192.0.0.1 192.0.2.1 240.0.0.1 224.0.0.1 255.255.255.255 [fc00::1] [fe80::1]",
        "[fec0::1] [ff02::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1]",
    ]
    .into_iter()
    .flat_map(str::split_whitespace)
    {
        is_address(&format!("http://{host}/latest/meta-data/"));
    }
}

#[test]
fn u15_zone_identifiers_are_no_url() {
    assert!(matches!(refusal("http://[fe80::1%25eth0]/"), Refusal::NotAUrl(_)));
}

#[test]
fn u16_names_of_this_machine_or_network_are_refused_before_any_lookup() {
    for host in "localhost localhost. LOCALHOST ⓛocalhost a.localhost printer.local db.internal sandbox.localdomain \
        intranet com x.home.arpa router.lan abc.onion x.alt 1.0.0.10.in-addr.arpa"
        .split(' ')
    {
        let refused = refusal(&format!("http://{host}/"));
        assert!(matches!(refused, Refusal::Name { .. }), "{host}: {refused:?}");
    }
    for host in ["example.com", "local.example.com", "localhost.example.com", "mylocal.com", "notinternal.net"] {
        assert!(vet_url(&format!("https://{host}/"), &Guard::default()).is_ok(), "{host}");
    }
}

#[test]
fn u17_our_own_hosts_are_refused() {
    let own_hosts = ["search.example.org", "*.lambda-url.eu-west-1.on.aws"].map(|p| p.parse().unwrap()).to_vec();
    let rules = Guard { own_hosts, ..Guard::default() };
    for url in
        ["https://search.example.org/s?q=1", "https://SEARCH.example.org./", "https://x.lambda-url.eu-west-1.on.aws/"]
    {
        assert!(matches!(vet_url(url, &rules), Err(Refusal::OwnHost(_))), "{url}");
    }
    for url in ["https://example.org/", "https://a.search.example.org/", "https://lambda-url.eu-west-1.on.aws/"] {
        assert!(vet_url(url, &rules).is_ok(), "{url}");
    }
}

#[test]
fn u18_u20_u21_t18_one_bad_address_none_or_too_many_refuse_the_whole_name() {
    let vet = |ips: &[&str]| {
        let ips: Vec<IpAddr> = ips.iter().map(|text| ip(text)).collect();
        vet_addresses("example.com", &ips, &Guard::default())
    };
    assert_eq!(vet(&["93.184.216.34", "2606:2800:220:1::1"]), Ok(()));
    assert!(matches!(vet(&["93.184.216.34", "10.0.0.1"]), Err(Refusal::Address { .. })));
    assert!(matches!(vet(&["93.184.216.34", "::1"]), Err(Refusal::Address { .. })));
    assert!(matches!(vet(&["::ffff:93.184.216.34"]), Err(Refusal::Address { .. })));
    assert!(matches!(vet(&[]), Err(Refusal::NoAddress(_))));
    assert_eq!(vet(&["93.184.216.34"; 32]), Ok(()));
    assert!(matches!(vet(&["93.184.216.34"; 33]), Err(Refusal::TooManyAddresses(_))));
}

#[test]
fn u23_only_http_and_https_are_schemes() {
    for url in "file:///etc/passwd gopher://example.com/ data:text/html,x javascript:alert(1) ftp://example.com/ \
        ws://example.com/"
        .split(' ')
    {
        assert!(matches!(refusal(url), Refusal::Scheme(_)), "{url}");
    }
    for url in ["", "//example.com/", "/path", "http://", "http:", "example.com"] {
        assert!(matches!(refusal(url), Refusal::NotAUrl(_)), "{url:?}");
    }
}

#[test]
fn u27_credentials_are_refused() {
    for url in [
        "http://user:pw@example.com/",
        "http://user@example.com/",
        "https://:pw@example.com/",
        "http://a@b@example.com/",
    ] {
        assert_eq!(refusal(url), Refusal::UserInfo, "{url}");
    }
}

#[test]
fn u28_ports_are_those_on_the_list() {
    for port in [0, 22, 25, 6379, 8080, 9001, 65535] {
        assert_eq!(refusal(&format!("http://example.com:{port}/")), Refusal::Port(port));
    }
    for url in ["http://example.com:443/", "https://example.com:80/", "https://example.com:443/"] {
        assert!(vet_url(url, &Guard::default()).is_ok(), "{url}");
    }
    let mut rules = Guard::default();
    rules.ports.insert(8080);
    assert!(vet_url("http://example.com:8080/", &rules).is_ok());
    rules.ports.insert(0);
    assert_eq!(vet_url("http://example.com:0/", &rules), Err(Refusal::Port(0)));
}

#[test]
fn u29_u30_u31_u32_the_parser_of_the_check_is_the_parser_of_the_request() {
    let host = |url: &str| vet_url(url, &Guard::default()).map(|u| u.host_str().unwrap_or_default().to_owned());
    for (url, expected) in [
        ("http://example.com\\@127.0.0.1/", "example.com"),
        ("http://example.com#@evil.com/", "example.com"),
        ("http://exam\tple.c\nom/", "example.com"),
        ("http://exa%6dple.com/", "example.com"),
        ("http://EXAMPLE.com./", "example.com"),
        ("http://аррӏе.com/", "xn--80ak6aa92e.com"),
        ("http://a_b.com/", "a_b.com"),
    ] {
        assert_eq!(host(url), Ok(expected.into()), "{url}");
    }
    let long_label = format!("http://{}.com/", "a".repeat(64));
    let long_name = format!("http://{}com/", "abcdefg.".repeat(32));
    for url in ["http://a..b/", "http://.example.com/", "http://example.com../", "http://./", &long_label, &long_name] {
        assert!(matches!(refusal(url), Refusal::Name { .. } | Refusal::NotAUrl(_)), "{url}: {:?}", refusal(url));
    }
    let fits = format!("http://{}.com/", "a".repeat(63));
    assert!(host(&fits).is_ok());
}

#[test]
fn u36_a_network_is_allowed_only_by_name() {
    let rules = Guard { allow_nets: vec!["192.168.7.0/24".parse().unwrap()], ..Guard::default() };
    assert!(vet_url("http://192.168.7.20/feed", &rules).is_ok());
    assert!(vet_url("http://192.168.8.20/feed", &rules).is_err());
    // An allowed network is allowed on any port if its address is in the URL, but not if a name resolves to it.
    assert!(vet_url("http://192.168.7.20:8000/", &rules).is_ok());
    assert!(matches!(vet_url("http://192.168.7.20:0/", &rules), Err(Refusal::Port(0))));
    assert!(matches!(vet_url("http://nas.example:8000/", &rules), Err(Refusal::Port(8000))));
    assert_eq!(vet_addresses("nas.example", &[ip("192.168.7.20")], &rules), Ok(()));
    assert!(vet_addresses("nas.example", &[ip("192.168.7.20"), ip("127.0.0.1")], &rules).is_err());
}

#[test]
fn x15_a_url_of_more_than_2_048_bytes_is_refused() {
    let path = |n: usize| format!("http://example.com/{}", "a".repeat(n));
    assert!(vet_url(&path(MAX_URL_BYTES - 19), &Guard::default()).is_ok());
    assert_eq!(refusal(&path(MAX_URL_BYTES - 18)), Refusal::TooLong);
}

#[test]
fn a_resolve_rule_allows_its_host_on_any_port_and_nothing_else() {
    let rules = Guard { resolve: vec!["*.test=127.0.0.1:8080".parse().unwrap()], ..Guard::default() };
    for url in ["http://a.test/", "https://deep.er.test:9999/", "http://A.TEST./"] {
        assert!(vet_url(url, &rules).is_ok(), "{url}");
    }
    for url in ["http://test/", "http://atest/", "http://a.test.com:9999/", "ftp://a.test/", "http://u@a.test/"] {
        assert!(vet_url(url, &rules).is_err(), "{url}");
    }
    assert_eq!(vet_addresses("a.test", &[ip("127.0.0.1")], &rules), Ok(()));
}

#[test]
fn rules_are_read_as_they_are_written() {
    for (text, addr, port) in [
        ("site.test=127.0.0.1", "127.0.0.1", None),
        ("*.test=127.0.0.1:8080", "127.0.0.1", Some(8080)),
        ("localhost=[::1]", "::1", None),
        ("*.test=[2001:db8::1]:81", "2001:db8::1", Some(81)),
    ] {
        let rule: ResolveRule = text.parse().unwrap();
        assert_eq!((rule.addr, rule.port), (ip(addr), port), "{text}");
        assert_eq!(rule.to_string(), text);
    }
    assert_eq!(
        "BÜCHER.test.=127.0.0.1".parse::<ResolveRule>().unwrap().pattern,
        HostPattern::Exact("xn--bcher-kva.test".into())
    );
    for text in [
        "",
        "a.test",
        "=127.0.0.1",
        "a.test=",
        "a.test=::1",
        "a.test=1.2.3.4:0",
        "a.test=1.2.3.4:99999",
        "a.test=host",
        "*=127.0.0.1",
        "*.*.test=127.0.0.1",
        "a*.test=127.0.0.1",
        "1.2.3.4=127.0.0.1",
        "a..b=127.0.0.1",
    ] {
        assert!(text.parse::<ResolveRule>().is_err(), "{text}");
    }
    assert_eq!("127.0.0.1:9001".parse::<Endpoint>().unwrap().to_string(), "127.0.0.1:9001");
    for text in ["", "localhost", "localhost:", "localhost:x", ":80"] {
        assert!(text.parse::<Endpoint>().is_err(), "{text}");
    }
}

#[test]
fn every_block_begins_and_ends_where_its_registry_says() {
    // First and last address of each block, and whether its neighbours are public.
    let table = [
        ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
        ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
        ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
        ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
        ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
        ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
        ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
        ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
        ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
        ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
        ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
        ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
        ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
        ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
        ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
        ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "2000::"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7::", "2001:db9::"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"),
        ("3ffe::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffd::", "3fff:1000::"),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", ""),
    ];
    for (first, last, before, after) in table {
        assert!(classify(ip(first)).is_err() && classify(ip(last)).is_err(), "{first}–{last}");
        for public in [before, after].into_iter().filter(|text| !text.is_empty()) {
            assert_eq!(classify(ip(public)), Ok(()), "{public} beside {first}");
        }
    }
}

#[test]
fn every_slash_16_agrees_with_the_standard_library() {
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x00ff, 0x0100, 0x02fe, 0x3363, 0x6401, 0x6363, 0x7101, 0x8110, 0xffff] {
            let ip = Ipv4Addr::from_bits(u32::from(high) << 16 | low);
            let [a, b, c, d] = ip.octets();
            let special = ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_documentation()
                || ip.is_multicast()
                || ip.is_broadcast()
                || a == 0
                || a >= 240
                || (a == 100 && b & 0xc0 == 64)
                || (a == 198 && b & 0xfe == 18)
                || (a, b, c) == (192, 0, 0)
                || (a, b, c) == (192, 88, 99)
                || (a, b, c, d) == (168, 63, 129, 16);
            assert_eq!(classify(IpAddr::V4(ip)).is_err(), special, "{ip}");
        }
        let ip = Ipv6Addr::new(high, 0x0a00, 0, 0, 0, 0, 0, 1);
        let global = (0x2000..0x4000).contains(&high) && !matches!(high, 0x2002 | 0x3ffe | 0x3fff);
        assert_eq!(classify(IpAddr::V6(ip)).is_ok(), global, "{ip}");
    }
}

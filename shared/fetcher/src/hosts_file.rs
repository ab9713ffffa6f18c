//! The system's hosts file, read for each look-up as by the system's resolver, so that an entry takes effect with the
//! next connection. That resolver compares entries byte by byte with the name that it is asked for, which is absolute
//! here, so that it would find none.

use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::Path;

/// The file (hosts(5)).
pub(crate) const PATH: &str = "/etc/hosts";
/// Maximum number of bytes that are read; lists that block advertisements have a few million.
const MAX_BYTES: u64 = 16 << 20;

/// Returns the addresses that the file gives a name, in the order of the file; none if there is no such file.
#[allow(clippy::disallowed_types, reason = "the system keeps names in this file")]
pub(crate) fn look_up(path: &Path, name: &str) -> io::Result<Vec<IpAddr>> {
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other?,
    };
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(addresses(&String::from_utf8_lossy(&text), name))
}

/// Returns the addresses of a name in a hosts file. A line is an address and its names, separated by white space; `#`
/// begins a comment. Names are compared ignoring case and a trailing dot. A line without an address is ignored.
fn addresses(text: &str, name: &str) -> Vec<IpAddr> {
    let is_it = |known: &str| known.strip_suffix('.').unwrap_or(known).eq_ignore_ascii_case(name);
    let entry = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(is_it).then_some(address)
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_addresses_of_all_its_lines() {
        let text = "127.0.0.1\tlocalhost\n# 10.0.0.9 wiki.example\n10.0.0.1  wiki.example Wiki.Example.  # ours\r\n\
                    fd00::1 other.example wiki.example\nwiki.example 10.0.0.3\n10.0.0.4\n\n10.0.0.5 my.wiki.example";
        let expected: Vec<IpAddr> = ["10.0.0.1", "fd00::1"].iter().filter_map(|ip| ip.parse().ok()).collect();
        assert_eq!(addresses(text, "wiki.example"), expected);
        assert_eq!(addresses(text, "ours"), [] as [IpAddr; 0]);
        assert_eq!(addresses(text, "example"), [] as [IpAddr; 0]);
    }

    #[test]
    fn without_a_file_there_is_no_entry() {
        assert_eq!(look_up(Path::new("/no/such/file"), "wiki.example").ok(), Some(vec![]));
        assert!(look_up(Path::new("/"), "wiki.example").is_err(), "a folder is no file");
    }
}

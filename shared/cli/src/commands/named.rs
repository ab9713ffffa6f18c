//! Files that list sites and feeds, and the entries that were left out.

use crate::output::{self, printable};
use anyhow::{Context, Result};
use curlew_people::actions::read_opml;
use curlew_people::suggest::{ListedFeed, Refusal, RefusedAddress};
use curlew_policy::address::without_credentials;
use serde::Serialize;
use std::path::Path;

/// Maximum size of a file, in bytes.
const MAX_LIST: u64 = 64 * 1024 * 1024;
/// Maximum number of characters shown of an address or a reason.
const SHOWN: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// The address or name as given, without user name and password.
    named: String,
    reason: String,
}

impl LeftOut {
    /// Reports a refused entry on standard error, and returns it for the summary.
    pub(super) fn told(what: &str, named: &str, refused: &RefusedAddress) -> LeftOut {
        let (named, reason) =
            (printable(&without_credentials(named), SHOWN), printable(&refused.why.to_string(), SHOWN));
        let remedy = remedy(&refused.why);
        output::error_line(format!("curlew: {what} '{named}' is skipped: {reason}{remedy}"));
        LeftOut { named, reason }
    }
}

/// Returns advice on a refused address, to append to the reason; empty if there is none.
pub(super) fn remedy(why: &Refusal) -> &'static str {
    match why {
        Refusal::Unsafe(_) => "; to crawl sites of your own network, see --allow-net and --resolve",
        _ => "",
    }
}

/// Reads a file with one site per line; `#` begins a comment.
pub(super) fn sites(path: &Path) -> Result<Vec<String>> {
    let bytes = read(path)?;
    let text = curlew_feed::decode_text(&bytes);
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

pub(super) fn opml(path: &Path) -> Result<Vec<ListedFeed>> {
    read_opml(&read(path)?).with_context(|| format!("{} cannot be used", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let unreadable = || format!("{} cannot be read", path.display());
    let size = std::fs::metadata(path).with_context(unreadable)?.len();
    if size > MAX_LIST {
        anyhow::bail!("{} is larger than {} MiB", path.display(), MAX_LIST >> 20);
    }
    std::fs::read(path).with_context(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_sites_is_read_in_the_encodings_of_text_editors() -> Result<()> {
        let text = "# my blogs\r\nhttp://a.test/ # the first\r\n\r\n  m\u{fc}nchen.test\n";
        let wide = |bytes: fn(u16) -> [u8; 2]| format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect();
        let latin = text.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<Vec<u8>, _>>()?;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("sites.txt");
        let files: [Vec<u8>; 5] =
            [text.into(), format!("\u{feff}{text}").into(), wide(u16::to_le_bytes), wide(u16::to_be_bytes), latin];
        for bytes in files {
            std::fs::write(&path, &bytes)?;
            assert_eq!(sites(&path)?, ["http://a.test/", "m\u{fc}nchen.test"], "{bytes:?}");
        }
        Ok(())
    }
}

//! Measures how often the second robots.txt matcher changes a decision, and its cost.
//!
//! Run `cargo run --release -p curlew-policy --example second_opinion FOLDER`, where each file in the folder is a
//! robots.txt. The URLs are derived from the rules in the files.

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it reads files and measures time")]

use curlew_policy::robots::Robots;
use std::time::{Duration, Instant};

/// Number of times that the generated file is parsed and queried.
const ROUNDS: u32 = 2_000;
/// Length of the generated file in bytes.
const FILE: usize = 2_048;
/// Path that is checked against the generated file.
const PATH: &str = "/shelf-3/open/under/page.html";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder of robots.txt files")?;
    let (mut files, mut read, mut urls, mut asked, mut stricter) = (0, 0, 0, 0, 0);
    let (mut bytes, mut kept, mut alone, mut both) = (0, 0, Duration::ZERO, Duration::ZERO);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let body = std::fs::read(entry.path())?;
        files += 1;
        bytes += body.len();
        let begun = Instant::now();
        let robots = Robots::parse(&body, "CurlewBot");
        both += begun.elapsed();
        let begun = Instant::now();
        let _ = texting_robots::Robot::new("CurlewBot", &body);
        alone += begun.elapsed();
        kept += robots.weight();
        let (mut was_asked, mut refused) = (false, Vec::new());
        for path in paths(&body) {
            let decision = robots.check_path(&path);
            urls += 1;
            was_asked |= decision.second.is_some();
            asked += u32::from(decision.second.is_some());
            if decision.second == Some(false) {
                refused.push(path);
            }
        }
        read += u32::from(was_asked);
        stricter += refused.len();
        if let Some(path) = refused.first() {
            println!("{}: {} URLs, such as {path}", entry.file_name().display(), refused.len());
        }
    }
    println!(
        "{read} of {files} files read by both; {asked} of {urls} URLs asked of both, {stricter} refused by the second alone"
    );
    println!(
        "parsed: {} KB; by both {both:?}, by texting_robots alone {alone:?}; kept: {} KB",
        bytes >> 10,
        kept >> 10
    );
    let whole = quickest(|file| Robots::parse(file, "CurlewBot").check_path(PATH).allowed);
    let ours = quickest(|file| {
        // The second matcher is not used for files that contain a NUL.
        Robots::parse(&[file, b"\0"].concat(), "CurlewBot").check_path(PATH).allowed
    });
    println!("a file of 2 KB parsed and asked once, at best: {whole:?}, by our matcher alone {ours:?}");
    Ok(())
}

/// Returns the shortest time of all rounds, which other load on the machine affects least.
fn quickest(act: impl Fn(&[u8]) -> bool) -> Duration {
    let rounds = (0..ROUNDS).map(|round| {
        let file = two_kilobytes(round);
        let begun = Instant::now();
        assert!(act(file.as_bytes()));
        begun.elapsed()
    });
    rounds.min().unwrap_or_default()
}

fn paths(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body);
    let values = text.split(['\n', '\r']).filter_map(|line| {
        let (key, value) = line.split('#').next()?.split_once(':')?;
        let is_rule = ["allow", "disallow"].iter().any(|name| key.trim().eq_ignore_ascii_case(name));
        (is_rule && value.trim().starts_with(['/', '*'])).then(|| value.trim().trim_end_matches('$').replace('*', "x"))
    });
    let made = values.flat_map(|path| {
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        [path.clone(), format!("{path}a/page.html")]
    });
    ["/", "/2026/05/a-post", "/feed.xml"].map(str::to_owned).into_iter().chain(made.take(40)).collect()
}

fn two_kilobytes(round: u32) -> String {
    let mut text = "User-agent: *\nCrawl-delay: 2\n".to_owned();
    for shelf in 0.. {
        let line = match shelf % 3 {
            0 => format!("Disallow: /{round}/shelf-{shelf}/*/page\n"),
            1 => format!("Allow: /{round}/shelf-{shelf}/open/\n"),
            _ => format!("Disallow: /till-{shelf}?order=*&receipt=\n"),
        };
        if text.len() + line.len() > FILE {
            return text;
        }
        text.push_str(&line);
    }
    text
}

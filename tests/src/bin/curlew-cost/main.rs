//! `curlew-cost`: meters the cost of Curlew on AWS at list prices, while the release binaries of the functions crawl a
//! uniform web on an emulator. `cargo xtask cost` builds the binaries and runs it.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to the person who started it")]

mod report;
mod steady;
mod whole;

use anyhow::{Context, Result, bail};
use curlew_fixtureweb::Kind;
use curlew_tests::aws::lambda::Architecture;
use curlew_tests::aws::stand::{Size, Stand};
use report::{Bars, Phases, Report};
use serde_json::json;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask cost [OPTION…]

  --hosts N          sites, each with one feed (default 400)
  --pages N          new pages of each feed (default 10)
  --bytes N          bytes of a page (default 102400)
  --no-images        pages without a picture of their own
  --lead MINUTES     from the start to the polls with nothing new; the pages must be in by then (default 15)
  --x86              functions at the price of x86_64 instead of arm64

cargo xtask cost --steady [OPTION…]: a month of everyday use, in simulated time

  --feeds N          feeds, polled as often as they have news (default 100000)
  --thrice           polls each feed three times a day instead
  --pages N          new pages a month of all of them (default 1000000)
  --stored N         pages that are stored already (default 1000000)
  --searches N       searches a month (default 10000)
  --minutes N        minutes of each of the three windows that are simulated (default 15)
  --seed N           seed of everything that is drawn (default 7)
  --bars             fails if a figure is over its bar";

/// Maximum allowed cost of a million new pages, in dollars.
const PAGES_BAR: f64 = 2.0;
/// Maximum allowed monthly cost, in dollars, for 100,000 feeds polled 3 times a day without news.
const POLLS_BAR: f64 = 8.0;

/// Number of sweeps of a stack without feeds. Their processor time varies, and the cost of such a sweep is subtracted.
const EMPTY_SWEEPS: u32 = 5;

fn main() -> ExitCode {
    let arguments = || std::env::args().skip(1);
    let ran = if arguments().any(|argument| argument == "--steady") {
        steady::run(arguments())
    } else {
        match size(arguments()) {
            Ok(size) => measure(size),
            Err(error) => {
                eprintln!("curlew-cost: {error:#}\n{USAGE}");
                return ExitCode::from(2);
            }
        }
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("curlew-cost: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn size(mut arguments: impl Iterator<Item = String>) -> Result<Size> {
    let mut size = Size {
        hosts: 400,
        pages: 10,
        bytes: 100 * 1024,
        images: true,
        lead_minutes: 15,
        architecture: Architecture::Arm64,
    };
    while let Some(name) = arguments.next() {
        let mut number = || -> Result<usize> {
            let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
            value.parse().with_context(|| format!("{name}: {value} is no number"))
        };
        match name.as_str() {
            "--hosts" => size.hosts = number()?.max(1),
            "--pages" => size.pages = number()?.max(1),
            "--bytes" => size.bytes = number()?,
            "--lead" => size.lead_minutes = u64::try_from(number()?)?,
            "--no-images" => size.images = false,
            "--x86" => size.architecture = Architecture::X86,
            other => bail!("there is no option {other}"),
        }
    }
    Ok(size)
}

fn measure(size: Size) -> Result<()> {
    eprintln!("curlew-cost: deploying");
    let mut stand = Stand::new(size);
    let publish = json!({"what": "publish"});

    eprintln!("curlew-cost: ticks with nothing to do");
    let empty_sweeps = stand.phase(|stand| (0..EMPTY_SWEEPS).for_each(|_| stand.sweep()));
    let tick = stand.phase(Stand::tick);

    eprintln!("curlew-cost: {} new pages", stand.pages());
    let found = stand.phase(Stand::name_sites);
    let indexed = stand.phase(|stand| stand.scheduled("index", &publish));
    let accepted = stand.accepted();
    let calls = stand.web().calls().len();

    eprintln!("curlew-cost: polls with nothing new");
    let polls = polls(&mut stand, 0)?;
    eprintln!("curlew-cost: polls for which each robots.txt is had again");
    stand.forget_robots();
    let refreshing_polls = self::polls(&mut stand, size.hosts)?;
    let idle_index = stand.phase(|stand| stand.scheduled("index", &publish));

    let table_bytes = stand.table_bytes();
    let phases = Phases { empty_sweeps, tick, found, indexed, polls, idle_index, refreshing_polls };
    let report = Report { size, accepted, calls, table_bytes, phases };
    report.print();
    if accepted != stand.pages() as u64 {
        bail!("{accepted} pages were accepted, and it should be {}", stand.pages());
    }
    report.held(&Bars { pages: PAGES_BAR, polls: POLLS_BAR })
}

/// Polls all feeds once. Each must answer that it has no news, and `robots` copies of robots.txt must be fetched.
fn polls(stand: &mut Stand, robots: usize) -> Result<curlew_tests::aws::meter::Metered> {
    stand.start_anew();
    stand.wait_for_slot();
    stand.web().clear_calls();
    let metered = stand.phase(Stand::sweep);
    stand.still_on_time();
    let calls = stand.web().calls();
    let unchanged = calls.iter().filter(|call| call.kind == Kind::Feed && call.status == 304).count();
    let others = calls.iter().filter(|call| !matches!(call.kind, Kind::Feed | Kind::Robots)).count();
    if unchanged != stand.size().hosts || others > 0 {
        bail!(
            "{unchanged} of {} feeds said that nothing is new, and there were {others} other calls",
            stand.size().hosts
        );
    }
    let asked = calls.iter().filter(|call| call.kind == Kind::Robots).count();
    if asked != robots {
        bail!("{asked} robots.txt were asked for, and it should be {robots}");
    }
    Ok(metered)
}

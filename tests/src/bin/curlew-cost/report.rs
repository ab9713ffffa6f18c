//! Combines the costs of the phases into the two figures that have a bar (a maximum).

use crate::EMPTY_SWEEPS;
use anyhow::{Result, bail};
use curlew_tests::aws::bill::Bill;
use curlew_tests::aws::calibration::LOOP_MS;
use curlew_tests::aws::call::Service;
use curlew_tests::aws::lambda::Architecture;
use curlew_tests::aws::mapping;
use curlew_tests::aws::meter::{Line, Metered, Source};
use curlew_tests::aws::prices::{LEFT_OUT, READ_ON, REGION, dollars};
use curlew_tests::aws::stand::Size;
use curlew_tests::aws::steady::dispatch_every;
use curlew_tests::aws::unit::Unit;

/// Number of pages that the first figure is for.
const MILLION: f64 = 1e6;
/// Number of feeds that the second figure is for.
const FEEDS: f64 = 100_000.0;
/// Number of days of a month.
const DAYS: f64 = 30.0;
/// Number of polls of a feed in a day.
const POLLS: f64 = 3.0;
/// Number of minutes in a month.
const MINUTES: f64 = DAYS * 24.0 * 60.0;
/// Number of runs of index in a month.
const INDEX_RUNS: f64 = 3.0 * DAYS;
/// Number of runs of sample and of the archive in a month.
const OTHER_RUNS: f64 = DAYS + 1.0;
/// Number of queues whose mappings stay on while there is no news: the queue of polls.
const BUSY_QUEUES: f64 = 1.0;

/// Metered counts of each phase.
pub(crate) struct Phases {
    /// Ticks over all slots of a stack without feeds, [`EMPTY_SWEEPS`] times.
    pub(crate) empty_sweeps: Metered,
    /// One tick over one slot of a stack without feeds.
    pub(crate) tick: Metered,
    /// The work from naming the sites to the records of all their pages.
    pub(crate) found: Metered,
    /// Publishing the pages.
    pub(crate) indexed: Metered,
    /// Polls of all feeds without news.
    pub(crate) polls: Metered,
    /// A run of index without new pages.
    pub(crate) idle_index: Metered,
    /// Polls of all feeds without news, each with a new fetch of robots.txt.
    pub(crate) refreshing_polls: Metered,
}

/// All measurements.
pub(crate) struct Report {
    pub(crate) size: Size,
    pub(crate) accepted: u64,
    /// Number of calls to sites until the pages were found.
    pub(crate) calls: usize,
    /// Number of bytes in all tables at the end.
    pub(crate) table_bytes: usize,
    pub(crate) phases: Phases,
}

/// Maximum values of the two figures, in dollars.
pub(crate) struct Bars {
    pub(crate) pages: f64,
    pub(crate) polls: f64,
}

impl Report {
    /// Returns the bill of a million new pages: the whole work from naming the sites on, scaled by the accepted pages.
    fn million_pages(&self) -> Bill {
        let all = Bill::of(&self.phases.found).and(&Bill::of(&self.phases.indexed));
        all.scaled(MILLION / self.accepted.max(1) as f64)
    }

    /// Returns the bill of a month of polls without news.
    ///
    /// One poll a day has to fetch the host's robots.txt again; the others do not. A sweep over all slots stands for
    /// 480 ticks. The cost of such a sweep without any feed is subtracted, since the cost of all ticks of the month is
    /// added separately.
    fn month_of_polls(&self) -> Bill {
        let feeds = self.size.hosts as f64;
        let empty = Bill::of(&self.phases.empty_sweeps).scaled(-1.0 / f64::from(EMPTY_SWEEPS));
        let plain = Bill::of(&self.phases.polls).and(&empty).scaled(FEEDS / feeds * (POLLS - 1.0) * DAYS);
        let refreshing = Bill::of(&self.phases.refreshing_polls).and(&empty).scaled(FEEDS / feeds * DAYS);
        let ticks = Bill::of(&self.phases.tick).scaled(ticks());
        let index = Bill::of(&self.phases.idle_index).scaled(INDEX_RUNS);
        plain.and(&refreshing).and(&ticks).and(&index).and(&self.standing())
    }

    /// Returns the bill of an idle stack: schedules, and the long polls of mappings that stay on.
    fn standing(&self) -> Bill {
        let mut metered = Metered::default();
        let mut add = |service, target: &str, operation: &str, unit, units: f64| {
            metered.add(Line::new(service, target, operation, unit, Source::Modelled), units as u64, units);
        };
        let schedules = ticks() + INDEX_RUNS + OTHER_RUNS;
        add(Service::Scheduler, "all schedules", "invoke", Unit::Schedule, schedules);
        let polls = mapping::idle_receives(DAYS) * BUSY_QUEUES;
        add(Service::Sqs, "poll", "empty receives of the poll mapping", Unit::SqsRequest, polls);
        Bill::of(&metered)
    }

    pub(crate) fn print(&self) {
        let (pages, month) = (self.million_pages(), self.month_of_polls());
        println!("# Cost\n\n{LEFT_OUT} Prices of {REGION}, {READ_ON}.\n");
        self.print_assumptions();
        println!("\n## A million new pages: ${:.2}\n\n{}", pages.total(), pages.table());
        print_services(&pages);
        println!(
            "\n## 100,000 feeds polled 3 times a day for {DAYS} days, nothing new: ${:.2}\n\n{}",
            month.total(),
            month.table()
        );
        print_services(&month);
        self.print_storage();
        self.print_doubts();
    }

    fn print_assumptions(&self) {
        let Size { hosts, pages, bytes, images, architecture, .. } = self.size;
        let picture = if images { "one picture a page on the same host" } else { "no pictures but one a site" };
        let functions = match architecture {
            Architecture::Arm64 => "arm64; their time was taken on this machine's x86_64",
            Architecture::X86 => "x86_64",
        };
        println!(
            "Measured: {hosts} hosts with one feed each and {pages} new pages a feed, {bytes} bytes a page of which zstd \
             leaves about a fifth, {picture}; {} of {} pages accepted, {} calls to sites. \
             Functions at the price of {functions}. A function's time is the longer of its wall clock and of its processor \
             time on memory / 1,769 MB of a core: processor time as on a core that runs the calibration loop in {LOOP_MS} ms, waiting for \
             services as on AWS (5 ms a table, 10 ms a queue, 30 ms an object).",
            self.accepted,
            hosts * pages,
            self.calls
        );
        println!(
            "\nBatches are as full as queue and template let them be, one at a time; the emulator's own mappings, which hand out 10 \
             messages at most, are not used. \
             The pages' figure holds everything from naming a site on: its discovery too, which on AWS is paid once, and \
             one run of index. Not in it: re-checks, monthly merges, searches.\n\
             The month's figure holds 9,000,000 polls, of which a third gets robots.txt again and writes its copy; {} ticks of \
             dispatch, {INDEX_RUNS} runs of index with nothing new, all schedules, and the empty receives of the poll queue's mapping as \
             if that queue were never busy; the other mappings rest.",
            ticks()
        );
    }

    /// Prints the stored bytes, which are in neither figure.
    fn print_storage(&self) {
        let scale = MILLION / self.accepted.max(1) as f64;
        let objects = (self.phases.found.object_bytes + self.phases.indexed.object_bytes) as f64 * scale;
        let items = self.table_bytes as f64 * scale;
        println!(
            "\n## Storage, not in the figures above\n\nOf a million pages, each month: objects {:.1} GB ${:.2}, tables {:.2} GB ${:.2}.",
            objects / 1e9,
            dollars(Unit::S3ByteMonth, objects),
            items / 1e9,
            dollars(Unit::TableByteMonth, items)
        );
    }

    /// Prints where the meter is uncertain, and where it disagrees with the endpoint.
    fn print_doubts(&self) {
        println!("\n## What to know of the meter\n");
        let Phases { found, indexed, polls, refreshing_polls, .. } = &self.phases;
        for (name, phase) in
            [("pages", found), ("index", indexed), ("polls", polls), ("polls and robots", refreshing_polls)]
        {
            for (operation, difference) in &phase.differences {
                println!(
                    "- {name}: {} calls of {operation} took {} units by their size and {} by the endpoint; the larger is billed, call by call.",
                    difference.calls, difference.ours, difference.theirs
                );
            }
            for (operation, calls) in &phase.unclear {
                println!(
                    "- {name}: the size of {calls} calls of {operation} is not fully shown; they count as what is shown."
                );
            }
            let others = phase.calls_where(|line| line.unit == Unit::Unpriced);
            println!("- {name}: {others} calls to services without a price.");
        }
    }

    /// Checks that neither figure exceeds its bar.
    pub(crate) fn held(&self, bars: &Bars) -> Result<()> {
        let figures = [
            ("a million new pages", self.million_pages().total(), bars.pages),
            ("a month of polls", self.month_of_polls().total(), bars.polls),
        ];
        hold(&figures)
    }
}

fn ticks() -> f64 {
    MINUTES / dispatch_every() as f64
}

/// Fails if a figure exceeds its bar or is not a number. Each figure comes with its name and its bar.
pub(crate) fn hold(figures: &[(&str, f64, f64)]) -> Result<()> {
    let missed = figures.iter().filter(|(_, dollars, bar)| dollars.is_nan() || dollars > bar);
    let missed: Vec<String> =
        missed.map(|(name, dollars, bar)| format!("{name}: ${dollars:.2}, and at most ${bar:.2}")).collect();
    if missed.is_empty() { Ok(()) } else { bail!("over the bar: {}", missed.join("; ")) }
}

pub(crate) fn print_services(bill: &Bill) {
    let sums: Vec<String> = bill.by_service().iter().map(|(name, dollars)| format!("{name} ${dollars:.3}")).collect();
    println!("By service: {}.", sums.join(", "));
}

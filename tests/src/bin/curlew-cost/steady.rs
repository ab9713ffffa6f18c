//! Calculates the monthly cost of a stack in everyday use, in simulated time (`--steady`).

use crate::report::{hold, print_services};
use crate::whole::{self, Beside};
use anyhow::{Context, Result, bail};
use curlew_policy::politeness::robots_notes::WRITTEN_AGAIN;
use curlew_tests::aws::bill::Bill;
use curlew_tests::aws::calibration::{Calibration, LOOP_MS};
use curlew_tests::aws::call::Service;
use curlew_tests::aws::meter::{Line, Metered, Source};
use curlew_tests::aws::prices::{
    LEFT_OUT, PROVISIONED_USE, READ_ON, REGION, TRAFFIC_A_GB, dollars, provisioned_read, provisioned_write,
};
use curlew_tests::aws::steady::{Load, Measured, dispatch_every, measure};
use curlew_tests::aws::unit::Unit;
use std::collections::BTreeMap;

/// Maximum monthly cost on demand, and with provisioned capacity, in dollars.
const ON_DEMAND_BAR: f64 = 12.0;
const PROVISIONED_BAR: f64 = 8.0;
/// Maximum monthly cost of an idle stack without alarms, in dollars.
const IDLE_BAR: f64 = 0.5;
/// Number of days, seconds and minutes in a month.
const DAYS: f64 = 30.0;
const SECONDS: f64 = DAYS * 86_400.0;
const MINUTES: f64 = DAYS * 1_440.0;
/// One of this many stored pages is re-checked each day (`policy::page::sampling`).
const RECHECKS_ONE_IN: f64 = 150.0;
/// Number of runs of index in a month, and of sample and the archive.
const INDEX_RUNS: f64 = 3.0 * DAYS;
const OTHER_RUNS: f64 = DAYS + 1.0;
/// Write units of a stored robots.txt, as metered: compressed, it takes less than a kilobyte. Polls rewrite an unchanged
/// one from time to time, but too rarely for the simulated days to show it.
const ROBOTS_UNITS: f64 = 1.0;
/// Work of a search: the number of GETs (manifests, hidden hosts, ranges of splits that are not in memory, thumbnails),
/// the function's time in milliseconds, and its memory in megabytes.
const SEARCH_GETS: f64 = 15.0;
const SEARCH_MS: f64 = 200.0;
const SEARCH_MB: f64 = 512.0;
/// Bytes in a gigabyte, as AWS bills them here.
const GB: f64 = 1e9;

/// The options of the command.
struct Options {
    load: Load,
    stored: f64,
    searches: f64,
    holds_bars: bool,
}

/// Simulates everyday use and prints the bill.
///
/// # Errors
/// Returns an error for an unknown option and, with `--bars`, for a figure that exceeds its bar.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<()> {
    let options = options(arguments)?;
    let measured = measure(options.load, |phase| eprintln!("curlew-cost: {phase}"));
    let month = Month::of(&options, &measured);
    month.print(&options, &measured);
    if options.holds_bars { month.held() } else { Ok(()) }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options> {
    let load = Load { feeds: 100_000, pages: 1e6, adaptive: true, minutes: 15, seed: 7 };
    let mut options = Options { load, stored: 1e6, searches: 10_000.0, holds_bars: false };
    while let Some(name) = arguments.next() {
        let mut number = || -> Result<u64> {
            let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
            value.parse().with_context(|| format!("{name}: {value} is no number"))
        };
        match name.as_str() {
            "--steady" => {}
            "--feeds" => options.load.feeds = number()?.max(1),
            "--thrice" => options.load.adaptive = false,
            "--pages" => options.load.pages = number()? as f64,
            "--minutes" => options.load.minutes = number()?.clamp(1, 400),
            "--seed" => options.load.seed = number()?,
            "--stored" => options.stored = number()? as f64,
            "--searches" => options.searches = number()? as f64,
            "--bars" => options.holds_bars = true,
            other => bail!("there is no option {other} of --steady"),
        }
    }
    Ok(options)
}

/// The bills of a month.
struct Month {
    /// Polls, new pages, dispatch, idle pollers, publishing.
    everyday: Bill,
    rechecks: Bill,
    searches: Bill,
    standing: Bill,
    idle: Bill,
}

impl Month {
    fn of(options: &Options, measured: &Measured) -> Month {
        let a_month = |(minutes, metered): &(u64, Metered)| Bill::of(metered).scaled(MINUTES / *minutes as f64);
        let idle_index = Bill::of(&measured.idle_index);
        let (pages, indexed) = &measured.indexed;
        let published = Bill::of(indexed).and(&idle_index.scaled(-1.0));
        let published = published.scaled(options.load.pages / (*pages).max(1) as f64);
        let (looked_at, rechecked) = &measured.rechecked;
        let rechecks = options.stored / RECHECKS_ONE_IN * DAYS / (*looked_at).max(1) as f64;
        let runs = idle_index.scaled(INDEX_RUNS);
        Month {
            everyday: a_month(&measured.everyday).and(&published).and(&robots_written_again(options.load.feeds)),
            rechecks: Bill::of(rechecked).scaled(rechecks),
            searches: searches(options.searches),
            standing: schedules().and(&runs),
            idle: a_month(&measured.idle).and(&schedules()).and(&runs),
        }
    }

    /// Returns the bill of everything that counts towards the figure.
    fn all(&self) -> Bill {
        [&self.rechecks, &self.searches, &self.standing]
            .into_iter()
            .fold(self.everyday.clone(), |sum, bill| sum.and(bill))
    }

    fn print(&self, options: &Options, measured: &Measured) {
        let (all, Load { feeds, adaptive, pages, minutes, seed }) = (self.all(), options.load);
        let how_often = if adaptive { "as often as they have news" } else { "three times a day" };
        println!("# Cost of everyday use\n\n{LEFT_OUT} Prices of {REGION}, {READ_ON}.\n");
        println!(
            "{feeds} feeds polled {how_often}, {pages} new pages a month, {} stored ones of which one in \
             {RECHECKS_ONE_IN} is looked at again each day, {} searches a month. Simulated: three windows of {minutes} minutes, \
             eight hours apart, of the {} feeds that are polled in these, after a warm-up; seed {seed}.",
            options.stored, options.searches, measured.feeds
        );
        let traffic = measured.traffic;
        let scale = MINUTES / measured.everyday.0 as f64;
        println!(
            "Of a month by that: {:.0} polls, {:.0} of them with news, {:.0} robots.txt, {:.0} pages, {:.0} images, {:.0} calls \
             of hosts out of reach. {} pages published, {} looked at again.",
            traffic.polls as f64 * scale,
            traffic.news as f64 * scale,
            traffic.robots as f64 * scale,
            traffic.pages as f64 * scale,
            traffic.images as f64 * scale,
            traffic.dead as f64 * scale,
            measured.indexed.0,
            measured.rechecked.0
        );
        println!("Of {} polls that were due in the simulated cycles {} were made.", measured.polls.1, measured.polls.0);
        println!(
            "\n## A month: ${:.2} on demand, ${:.2} with provisioned capacity, idle ${:.2}\n",
            all.total(),
            provisioned(&all),
            self.idle.total()
        );
        println!("{}", all.table());
        print_services(&all);
        println!("\n| part | dollars |\n|---|---:|");
        for (name, bill) in [
            ("polls, new pages, dispatch, pollers, publishing", &self.everyday),
            ("re-checks", &self.rechecks),
            ("searches (modelled)", &self.searches),
            ("schedules, publishing with nothing new", &self.standing),
        ] {
            println!("| {name} | {:.2} |", bill.total());
        }
        self.print_beside(options, measured, scale);
        println!("\n## An idle stack: ${:.2}\n\n{}", self.idle.total(), self.idle.table());
        let unit = Calibration::start().loop_ms();
        println!(
            "Processor times are those of the table in `processor.rs`, of a core that runs the calibration loop in {LOOP_MS:.1} ms; \
             this machine takes {unit:.1} ms, and its time is nowhere in the bill."
        );
    }

    fn print_beside(&self, options: &Options, measured: &Measured, scale: f64) {
        let recheck_scale = options.stored / RECHECKS_ONE_IN * DAYS / measured.rechecked.0.max(1) as f64;
        let out = measured.traffic.bytes_out as f64 * scale + measured.recheck_traffic.bytes_out as f64 * recheck_scale;
        let objects = (measured.everyday.1.object_bytes as f64 * scale
            + measured.indexed.1.object_bytes as f64 * options.load.pages / measured.indexed.0.max(1) as f64)
            .max(0.0);
        let rows = measured.rows.bytes as f64 / measured.feeds.max(1) as f64 * options.load.feeds as f64;
        println!("\n## Beside the figure\n\n| what | a month | dollars |\n|---|---:|---:|");
        println!(
            "| traffic to sites; the first 100 GB of an account are free | {:.1} GB | {:.2} |",
            out / GB,
            out / GB * TRAFFIC_A_GB
        );
        println!(
            "| objects that one month adds, stored for a month | {:.1} GB | {:.2} |",
            objects / GB,
            dollars(Unit::S3ByteMonth, objects)
        );
        println!(
            "| rows of the feeds, their hosts and a few days' pages | {:.2} GB | {:.2} |",
            rows / GB,
            dollars(Unit::TableByteMonth, rows)
        );
        // The pages of the windows are few compared with the stored ones, whose rows and records have the same size.
        let kept = options.stored + options.load.pages;
        let a_page = measured.page_rows.bytes as f64 / measured.page_rows.rows.max(1) as f64;
        let others = (measured.rows.bytes - measured.page_rows.bytes) as f64 / measured.feeds.max(1) as f64;
        let stored = Beside {
            table_bytes: others * options.load.feeds as f64 + a_page * kept,
            object_bytes: objects / options.load.pages.max(1.0) * kept,
            traffic: out,
            metrics: measured.metrics,
        };
        println!(
            "\n## All of it: {kept:.0} pages stored, {:.2} GB of rows, {:.1} GB of objects\n\n{}",
            stored.table_bytes / GB,
            stored.object_bytes / GB,
            whole::table(&self.all(), &stored, &self.idle)
        );
    }

    fn held(&self) -> Result<()> {
        let all = self.all();
        let figures = [
            ("on demand", all.total(), ON_DEMAND_BAR),
            ("with provisioned capacity", provisioned(&all), PROVISIONED_BAR),
            ("idle", self.idle.total(), IDLE_BAR),
        ];
        hold(&figures)
    }
}

/// Returns the sum of a month in which the tables have provisioned capacity that follows the load: the mean units per
/// second divided by the target utilization, and at least one unit for each table.
fn provisioned(bill: &Bill) -> f64 {
    let mut tables: BTreeMap<(&str, Unit), f64> = BTreeMap::new();
    let mut rest = 0.0;
    for row in bill.rows() {
        match row.line.unit {
            Unit::Write | Unit::Read => {
                // The target without the kind of row.
                let table = row.line.target.split(' ').next().unwrap_or_default();
                *tables.entry((table, row.line.unit)).or_default() += row.units;
            }
            _ => rest += row.dollars,
        }
    }
    let capacity = |((_, unit), units): (&(&str, Unit), &f64)| {
        let units = (units / SECONDS / PROVISIONED_USE).max(1.0);
        if *unit == Unit::Write { provisioned_write(units, SECONDS) } else { provisioned_read(units, SECONDS) }
    };
    rest + tables.iter().map(capacity).sum::<f64>()
}

fn modelled(service: Service, target: &str, operation: &str, unit: Unit) -> Line {
    Line::new(service, target, operation, unit, Source::Modelled)
}

/// Returns the cost of writing unchanged copies of robots.txt again because of their age.
fn robots_written_again(feeds: u64) -> Bill {
    let times = feeds as f64 * SECONDS * 1e3 / WRITTEN_AGAIN.0 as f64;
    let mut metered = Metered::default();
    let line = modelled(Service::DynamoDb, "curlew-hosts", "PutItem of robots.txt by age", Unit::Write);
    metered.add(line, times as u64, times * ROBOTS_UNITS);
    Bill::of(&metered)
}

fn schedules() -> Bill {
    let mut metered = Metered::default();
    let times = MINUTES / dispatch_every() as f64 + INDEX_RUNS + OTHER_RUNS;
    metered.add(modelled(Service::Scheduler, "all schedules", "invoke", Unit::Schedule), times as u64, times);
    Bill::of(&metered)
}

fn searches(count: f64) -> Bill {
    let mut metered = Metered::default();
    let mut add = |line: Line, units: f64| metered.add(line, count as u64, units);
    add(modelled(Service::S3, "splits/ and others", "GetObject by searches", Unit::S3Read), count * SEARCH_GETS);
    add(modelled(Service::Lambda, "web", "512 MB", Unit::LambdaRequest), count);
    let seconds = count * SEARCH_MS / 1e3 * SEARCH_MB / 1024.0;
    add(modelled(Service::Lambda, "web", "512 MB", Unit::GbSecondArm64), seconds);
    Bill::of(&metered)
}

//! `curlew demo`: crawls, indexes and serves the bundled fixture web on loopback. Needs no network.

use super::config::without_a_model;
use super::crawl::until_end;
use super::{exclusive, serve, stop_on_signal};
use crate::args::{DemoArgs, Until};
use crate::output::{self, counted, in_parentheses, printable};
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Context, Result, anyhow};
use curlew_app::Settings as Config;
use curlew_catalog::listing::{each_host, each_page};
use curlew_crawl::pages::sample::HowMany;
use curlew_fetcher::ResolveRule;
use curlew_fixtureweb::{Farm, Mode, Running, judge};
use curlew_model::{HostKey, Millis, PageState};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;

pub(super) async fn run(args: DemoArgs, mut config: Config) -> Result<()> {
    let pages = if args.no_serve { None } else { Some(serve::bind(args.listen).await?) };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.context("the fixture web cannot listen on loopback")?;
    let farm = Arc::new(Farm::demo());
    let web = curlew_fixtureweb::serve(farm.clone(), listener).await;
    let rule: ResolveRule = format!("*.test={}", web.addr()).parse().map_err(|e| anyhow!("{e}"))?;
    config.guard.resolve.push(rule);
    // Decide at once about pages that now forbid indexing: the demo ends before a second re-check.
    config.rules.confirm_after = Millis::ZERO;
    let folder = fresh_folder(&mut config)?;
    let quiet = args.output.json;
    if !quiet {
        output::line(format!(
            "{} small sites are up on {}. Curlew pauses at least a second between two calls to a site, as it would on \
             the real web: this takes about a minute.",
            farm.sites().len(),
            web.addr()
        ))?;
    }
    let world = Arc::new(exclusive(config).await?);
    for site in farm.sites() {
        world.desk.suggest.site(&site.start_url, true).await?;
    }
    let stop = stop_on_signal();
    let (summary, ran) = until_end(&world, Until::Idle, &BTreeSet::new(), quiet, stop.clone()).await?;
    ran?;
    let removed = vanish(&world, &web).await?;
    if quiet {
        output::json(&summary)?;
    } else {
        report(&world, &farm).await?;
        output::line("")?;
        summary.print()?;
        politeness(&web, &farm)?;
        output::line(&removed)?;
        // No model takes a drawing for nudity, and the demo has only drawings, so it cannot show a rejection.
        let by_model = || format!("{} classified them; all are drawings", world.config.judge.eye().unwrap_or_default());
        let looked_at = without_a_model(&world.config.image, "curlew").unwrap_or_else(by_model);
        output::line(format!("pictures  {looked_at}"))?;
        if let (Some(_), Some(folder)) = (&pages, &folder) {
            output::line(format!(
                "operator  `curlew admin login --data {}` in another terminal signs you in at /admin; the folder is \
                 deleted when the demo ends",
                folder.display()
            ))?;
        }
    }
    if let Some(listener) = pages.filter(|_| !stop.load(Ordering::Relaxed)) {
        serve::pages(world.clone(), listener, stop).await?;
    }
    web.stop().await;
    drop(world);
    if let Some(folder) = folder {
        let _left_to_the_system = std::fs::remove_dir_all(folder);
    }
    Ok(())
}

/// Uses an empty temporary folder as the store and returns it, unless the user named a folder.
fn fresh_folder(config: &mut Config) -> Result<Option<PathBuf>> {
    if config.data.as_os_str() != "curlew-data" {
        return Ok(None);
    }
    let folder = std::env::temp_dir().join(format!("curlew-demo-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{} cannot be emptied", folder.display()))?;
    }
    config.data.clone_from(&folder);
    Ok(Some(folder))
}

#[derive(Default)]
struct Outcome {
    accepted: usize,
    rejected: BTreeMap<&'static str, usize>,
}

async fn report(world: &World, farm: &Farm) -> Result<()> {
    let mut outcomes: BTreeMap<HostKey, Outcome> = BTreeMap::new();
    each_page(world.ports.pages.as_ref(), |page| {
        let outcome = outcomes.entry(page.host).or_default();
        match page.state {
            PageState::Accepted { .. } => outcome.accepted += 1,
            PageState::Rejected { reason } => *outcome.rejected.entry(reason.code()).or_default() += 1,
            _ => {}
        }
    })
    .await?;
    let mut holds = BTreeMap::new();
    each_host(world.ports.hosts.as_ref(), |host, state| {
        holds.extend(state.hold.map(|hold| (host, hold)));
    })
    .await?;
    let none = Outcome::default();
    for site in farm.sites() {
        let key = HostKey::new(&judge::registrable(&site.host))?;
        let Outcome { accepted, rejected } = outcomes.get(&key).unwrap_or(&none);
        let hold = holds.get(&key).map(|hold| format!("held: {}", hold.reason.as_str()));
        let refused: Vec<String> = [counted(rejected)].into_iter().filter(|all| !all.is_empty()).chain(hold).collect();
        let refused = if refused.is_empty() { String::new() } else { format!("  refused: {}", refused.join(", ")) };
        output::line(format!("{:28} {accepted:3} found{refused}", printable(&site.host, 28)))?;
        output::line(format!("{:28}     {}", "", printable(site.about, 100)))?;
    }
    Ok(())
}

fn politeness(web: &Running, farm: &Farm) -> Result<()> {
    let calls = web.calls();
    let closest = judge::closest_gap(&calls, judge::registrable).map(|gap| gap.end_to_start as f64 / 1e6);
    let closest = closest.map(|s| format!("{s:.3} s between the closest two calls to one site")).unwrap_or_default();
    output::line(format!(
        "manners   by the sites' own logs: {closest}, {} overlapping, {} forbidden by robots.txt",
        judge::overlaps(&calls, judge::registrable).len(),
        judge::forbidden(&calls, farm).len()
    ))
}

/// Makes pages vanish from the fixture web, re-checks them, and reports the pages removed from the index.
async fn vanish(world: &Arc<World>, web: &Running) -> Result<String> {
    let mut hosts = Vec::new();
    for site in web.farm().sites().iter().filter(|site| site.changes_later()) {
        web.set_mode(&site.host, Mode::Later);
        hosts.extend(HostKey::new(&judge::registrable(&site.host)));
    }
    if hosts.is_empty() {
        return Ok(String::new());
    }
    let sent = world.crawler.sample.run(HowMany::OfHosts(hosts)).await?.indexed;
    Runner::new(world.clone(), Arc::default()).run(End::Idle(None)).await?;
    let removed = world.tally.counts().removed;
    Ok(format!(
        "vanished  {sent} pages of changed sites were re-checked, {} are gone from the index{}",
        removed.values().sum::<u64>(),
        in_parentheses(&removed)
    ))
}

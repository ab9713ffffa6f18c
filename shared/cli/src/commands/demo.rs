//! `curlew demo`: the bundled fixture web on loopback, crawled, indexed and served. No network is needed.

use super::crawl::until_end;
use super::{exclusive, serve, stop_on_signal};
use crate::args::{DemoArgs, Until};
use crate::output::{self, printable};
use crate::pictures::without_a_model;
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Context, Result};
use curlew_app::Settings as Config;
use curlew_crawl::pages::sample::HowMany;
use curlew_fetcher::ResolveRule;
use curlew_fixtureweb::{Farm, Mode, Running, judge};
use curlew_model::{HostKey, HostState, Page, PageId, PageState};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;

/// Rows read at a time.
const LIST: usize = 1_000;

pub(super) async fn run(args: DemoArgs, mut config: Config) -> Result<()> {
    let pages = if args.no_serve { None } else { Some(serve::bind(args.listen).await?) };
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("the fixture web cannot listen on loopback")?;
    let farm = Arc::new(Farm::demo());
    let web = curlew_fixtureweb::serve(farm.clone(), listener).await;
    let rule: ResolveRule = format!("*.test={}", web.addr()).parse().map_err(|e| anyhow::anyhow!("{e}"))?;
    config.guard.resolve.push(rule);
    // The demo ends before a second look could decide about pages that ask not to be indexed any more.
    config.rules.confirm_after = curlew_model::Millis::ZERO;
    let folder = fresh_folder(&mut config)?;
    let quiet = args.output.json;
    if !quiet {
        output::line(&format!(
            "{} small sites are up on {}. Curlew pauses at least a second between two calls to a site, as it would on the real web: this takes about a minute.",
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
        // A model takes no drawn picture for nudity, so no page of the demo can show what it rejects.
        let by_model = || format!("{} looked at them; all are drawn", world.config.judge.eye().unwrap_or_default());
        let looked_at = without_a_model(&world.config.image, "curlew").unwrap_or_else(by_model);
        output::line(&format!("pictures  {looked_at}"))?;
        if let (Some(_), Some(folder)) = (&pages, &folder) {
            output::line(&format!(
                "operator  `curlew admin login --data {}` in another terminal signs you in at /admin; the folder goes with the demo",
                folder.display()
            ))?;
        }
    }
    if let Some(listener) = pages.filter(|_| !stop.load(Ordering::Relaxed)) {
        serve::pages(world.clone(), listener, stop, None).await?;
    }
    web.stop().await;
    drop(world);
    if let Some(folder) = folder {
        let _left_to_the_system = std::fs::remove_dir_all(folder);
    }
    Ok(())
}

/// Chooses an empty folder, unless the person named one, so that the demo starts from nothing and apart from earlier
/// crawls.
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

/// Outcome of the pages of one site.
#[derive(Default)]
struct Outcome {
    accepted: usize,
    rejected: BTreeMap<&'static str, usize>,
}

async fn report(world: &World, farm: &Farm) -> Result<()> {
    let mut outcomes: BTreeMap<HostKey, Outcome> = BTreeMap::new();
    let mut after: Option<PageId> = None;
    loop {
        let rows: Vec<Page> = world.ports.pages.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.id.clone());
        for page in rows {
            let outcome = outcomes.entry(page.host).or_default();
            match page.state {
                PageState::Accepted { .. } => outcome.accepted += 1,
                PageState::Rejected { reason } => *outcome.rejected.entry(reason.code()).or_default() += 1,
                _ => {}
            }
        }
    }
    let hosts: BTreeMap<HostKey, HostState> = world.ports.hosts.list(None, LIST).await?.into_iter().collect();
    for site in farm.sites() {
        let key = HostKey::new(&judge::registrable(&site.host))?;
        let outcome = outcomes.get(&key);
        let accepted = outcome.map_or(0, |o| o.accepted);
        let mut refused: Vec<String> =
            outcome.iter().flat_map(|o| &o.rejected).map(|(why, n)| format!("{n} {why}")).collect();
        if let Some(hold) = hosts.get(&key).and_then(|s| s.hold.as_ref()) {
            refused.push(format!("held: {}", hold.reason.as_str()));
        }
        let refused = if refused.is_empty() { String::new() } else { format!("  refused: {}", refused.join(", ")) };
        output::line(&format!("{:28} {accepted:3} found{refused}", printable(&site.host, 28)))?;
        output::line(&format!("{:28}     {}", "", printable(site.about, 100)))?;
    }
    Ok(())
}

/// Prints how politely the crawl behaved, from the sites' own logs.
fn politeness(web: &Running, farm: &Farm) -> Result<()> {
    let calls = web.calls();
    let key = |host: &str| judge::registrable(host);
    let closest = judge::closest_gap(&calls, key).map(|g| g.end_to_start as f64 / 1e6);
    let closest = closest.map(|s| format!("{s:.3} s between the closest two calls to one site")).unwrap_or_default();
    output::line(&format!(
        "manners   by the sites' own logs: {closest}, {} overlapping, {} forbidden by robots.txt",
        judge::overlaps(&calls, key).len(),
        judge::forbidden(&calls, farm).len()
    ))?;
    Ok(())
}

/// Makes pages vanish from the web, and a re-check remove them from the index.
async fn vanish(world: &Arc<World>, web: &Running) -> Result<String> {
    let changed: Vec<&str> = web.farm().sites().iter().filter(|s| s.changes_later()).map(|s| s.host.as_str()).collect();
    for host in &changed {
        web.set_mode(host, Mode::Later);
    }
    if changed.is_empty() {
        return Ok(String::new());
    }
    let hosts: Vec<HostKey> = changed.iter().filter_map(|host| HostKey::new(&judge::registrable(host)).ok()).collect();
    let sent = world.crawler.sample.run(HowMany::OfHosts(hosts)).await?.indexed;
    Runner::new(world.clone(), Arc::default()).run(End::Idle(None)).await?;
    let counts = world.tally.counts();
    let removed: u64 = counts.removed.values().sum();
    let why: Vec<String> = counts.removed.iter().map(|(why, n)| format!("{n} {why}")).collect();
    Ok(format!(
        "vanished  {sent} pages of changed sites were re-checked, {removed} are gone from the index ({})",
        why.join(", ")
    ))
}

//! `curlew serve`: the search page and the forms, with the schedules running; and `curlew mcp`.

use super::stop_on_signal;
use crate::apart;
use crate::metrics;
use crate::output;
use crate::recorder::Recorder;
use crate::runner::{End, Runner};
use crate::server::{self, Limits, descriptors};
use crate::status::LiveStatus;
use crate::world::World;
use anyhow::{Context, Result};
use axum::http::HeaderName;
use curlew_app::web_secret;
use curlew_crawl::pages::sample::Sampled;
use curlew_model::Millis;
use curlew_web::{AdminServices, PageSettings, Proxies, Services, ShownSetting, router};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::fs::File;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const SCHEDULES: [Schedule; 5] = [
    Schedule { work: Work::Dispatch, name: "serve-dispatch", every: Millis::from_mins(1) },
    // Also if nothing is new, for merges that are due.
    Schedule { work: Work::Publish, name: "serve-publish", every: Millis::from_hours(8) },
    Schedule { work: Work::Sign, name: "serve-sign", every: Millis::from_hours(1) },
    Schedule { work: Work::Sample, name: "serve-sample", every: Millis::from_hours(24) },
    Schedule { work: Work::Archive, name: "serve-archive", every: Millis::from_days(30) },
];
/// Interval at which news are looked for that have not been published.
const LOOK_FOR_NEWS: Millis = Millis::from_secs(30);
const WITHOUT_CONTACT: &str = "no contact is set, so no public host is called: no site is crawled and no page re-checked. Give a page or a mail address by --contact URL|MAIL, by `contact` in the settings, or by CURLEW_CONTACT.";
const NOTICE: Millis = Millis(200);

pub(super) async fn run(world: Arc<World>, listen: SocketAddr) -> Result<()> {
    let listener = bind(listen).await?;
    let stop = stop_on_signal();
    let mut runner = tokio::spawn(Runner::new(world.clone(), stop.clone()).run(End::Never));
    let schedules = tokio::spawn(schedules(world.clone(), stop.clone()));
    let metrics = tokio::spawn(metrics::serve(world.clone(), stopped(&world, stop.clone())));
    if world.config.contact.is_none() {
        tracing::warn!("{WITHOUT_CONTACT}");
    }
    let serving = pages(world, listener, stop.clone());
    tokio::pin!(serving);
    // A search page over a crawl that has died silently would look well for weeks.
    let crawled = tokio::select! {
        served = &mut serving => {
            stop.store(true, Ordering::Relaxed);
            served?;
            runner.await?
        }
        ended = &mut runner => {
            stop.store(true, Ordering::Relaxed);
            serving.await?;
            ended?
        }
    };
    schedules.await?;
    metrics.await?;
    crawled.context("crawling ended")
}

/// Takes the port of the pages. To be called before long work, which would be lost if the port is taken.
pub(super) async fn bind(listen: SocketAddr) -> Result<TcpListener> {
    let bound = TcpListener::bind(listen).await;
    bound.with_context(|| format!("cannot listen on {listen}: choose another address with --listen"))
}

pub(super) async fn pages(world: Arc<World>, listener: TcpListener, stop: Arc<AtomicBool>) -> Result<()> {
    let addr = listener.local_addr()?;
    let (mut services, settings) = services(&world).await?;
    services.admin = admin(&world, addr);
    let stopped = stopped(&world, stop);
    let app = router(services, settings);
    let proxies = Proxies::new(world.config.web.trusted_proxies.clone());
    let limits = Limits::new(descriptors::connections(descriptors::limit(), world.config.workers));
    output::line(format!("Open http://{addr}/ in a browser; Ctrl-C stops."))?;
    let listener = listener.into_std()?;
    let serving = async move {
        server::serve(TcpListener::from_std(listener)?, app, proxies, limits, stopped).await;
        std::io::Result::Ok(())
    };
    Ok(apart::run("curlew-pages", Builder::new_multi_thread(), serving)?.await??)
}

/// Serves the tools for assistants over standard input and output, until the input ends.
pub(super) async fn mcp(world: &Arc<World>) -> Result<()> {
    let (services, settings) = services(world).await?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    let (input, output) = (File::from_std(input.into()), File::from_std(output.into()));
    Ok(curlew_web::serve_streams(services, settings, input, output).await?)
}

async fn services(world: &Arc<World>) -> Result<(Services, PageSettings)> {
    let secret = web_secret(world.ports.blobs.as_ref()).await.context("the page's secret cannot be had")?;
    world.library.finder.sign_cursors(secret);
    let status = Arc::new(LiveStatus(world.clone()));
    let services = Services::new(&world.library, &world.desk, world.crawler.pushes.clone(), status);
    Ok((services, world.config.pages(secret)))
}

fn stopped(world: &World, stop: Arc<AtomicBool>) -> impl Future<Output = ()> + Send + 'static {
    let clock = world.clock.clone();
    async move {
        while !stop.load(Ordering::Relaxed) {
            clock.sleep(NOTICE).await;
        }
    }
}

/// Returns the services of the operator's pages, if the settings let them be served at this address.
fn admin(world: &World, listen: SocketAddr) -> Option<AdminServices> {
    if !world.config.has_admin_pages(listen.ip().is_loopback()) {
        return None;
    }
    let trusted_header = world.config.admin.trusted_header.as_ref().and_then(|name| name.parse::<HeaderName>().ok());
    let settings = world.config.effective.iter().map(|setting| ShownSetting {
        table: setting.table.clone(),
        key: setting.key.clone(),
        value: setting.value.to_string(),
        origin: setting.origin.to_string(),
    });
    Some(AdminServices::new(&world.desk, trusted_header, settings.collect()))
}

/// Runs the schedules of EventBridge on the local clock; the last run of each is kept in the store.
async fn schedules(world: Arc<World>, stop: Arc<AtomicBool>) {
    // The monotonic time from which news are looked for again.
    let mut next_look = Millis::ZERO;
    let mut recorder = Recorder::default();
    while !stop.load(Ordering::Relaxed) {
        recorder.record_if_due(&world).await;
        for schedule in SCHEDULES {
            if let Err(error) = schedule.run_if_due(&world, &mut next_look).await {
                let error = format!("{error:#}");
                tracing::error!(name = schedule.name, error, "a schedule failed; it runs again when it is due next");
            }
        }
        world.clock.sleep(NOTICE).await;
    }
    recorder.record(&world).await;
}

struct Schedule {
    work: Work,
    /// Name of the mark that stores its last run.
    name: &'static str,
    every: Millis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Dispatch,
    /// Runs early if something is new, as often as the settings say.
    Publish,
    Sign,
    /// Begins one period after the first start, not with it, as [`Work::Archive`] does.
    Sample,
    /// Merges older years, and purges them of pages that are gone.
    Archive,
}

impl Schedule {
    async fn run_if_due(&self, world: &World, next_look: &mut Millis) -> Result<()> {
        let now = world.clock.now();
        let (last, seen) = world.ports.marks.load(self.name).await?;
        // A mark that lies ahead is of a clock that was wrong.
        if let Some(last) = last.filter(|last| *last <= now)
            && now < last + self.every
        {
            let monotonic = world.clock.monotonic();
            // Something new may be published early.
            let may_run = self.work == Work::Publish && now >= last + world.config.publish_every;
            if !may_run || monotonic < *next_look {
                return Ok(());
            }
            *next_look = monotonic + LOOK_FOR_NEWS;
            if !world.library.has_unpublished().await? {
                return Ok(());
            }
        }
        // The mark is written first: a failed run is tried again a period later, and not five times a second.
        world.ports.marks.swap(self.name, seen, now).await?;
        if last.is_none() && matches!(self.work, Work::Sample | Work::Archive) {
            return Ok(());
        }
        self.work.run(world).await
    }
}

impl Work {
    async fn run(self, world: &World) -> Result<()> {
        match self {
            Work::Dispatch | Work::Sample if world.config.paused => {}
            Work::Dispatch => {
                let sent = world.crawler.dispatch.tick().await?;
                tracing::debug!(polls = sent.polls, discoveries = sent.discoveries, "what is due was sent");
            }
            Work::Publish => {
                for (year, done) in world.publish().await?.into_iter().filter(|(_, done)| done.has_changed()) {
                    tracing::info!(year, added = done.added, splits = done.splits, "the index was published");
                }
            }
            Work::Sign => {
                let Some(signer) = &world.crawler.politeness.signer else { return Ok(()) };
                let (now, unique) = (world.clock.now(), world.crawler.politeness.seeds.next());
                signer.publish(world.ports.blobs.as_ref(), now, unique).await?;
                tracing::debug!("the directory of keys was signed anew");
            }
            Work::Sample => {
                let Sampled { indexed, second_looks } = world.recheck(None).await?;
                tracing::info!(pages = indexed, second_looks, "a sample of pages is re-checked");
            }
            Work::Archive => {
                for (year, done) in world.library.archive().await? {
                    tracing::info!(year, purged = done.purged, "the index of an older year was merged");
                }
            }
        }
        Ok(())
    }
}

//! `curlew serve`: serves the search page and the forms, crawls, and runs the schedules. Also `curlew mcp`.

use super::stop_on_signal;
use crate::recorder::Recorder;
use crate::runner::{End, Runner};
use crate::server::{self, Limits, descriptors};
use crate::status::LiveStatus;
use crate::world::World;
use crate::{apart, metrics, output};
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
    // Runs even if nothing is new, for merges that are due.
    Schedule { work: Work::Publish, name: "serve-publish", every: Millis::from_hours(8) },
    Schedule { work: Work::Sign, name: "serve-sign", every: Millis::from_hours(1) },
    Schedule { work: Work::Sample, name: "serve-sample", every: Millis::from_hours(24) },
    Schedule { work: Work::Archive, name: "serve-archive", every: Millis::from_days(30) },
];
/// Interval between checks for unpublished pages.
const LOOK_FOR_NEWS: Millis = Millis::from_secs(30);
const WITHOUT_CONTACT: &str = "no contact is set, so public sites are neither crawled nor re-checked. Set a web page \
    or mail address with --contact URL|MAIL, `contact` in the settings, or CURLEW_CONTACT.";
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
    // Stop serving if the crawl dies: a search page that still works would hide this for weeks.
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

/// Binds the port of the pages. Call this before long work, which would be lost if the port is in use.
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

/// Serves the MCP tools over standard input and output until the input ends.
pub(super) async fn mcp(world: &Arc<World>) -> Result<()> {
    let (services, settings) = services(world).await?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    let (input, output) = (File::from_std(input.into()), File::from_std(output.into()));
    Ok(curlew_web::serve_streams(services, settings, input, output).await?)
}

async fn services(world: &Arc<World>) -> Result<(Services, PageSettings)> {
    let secret = web_secret(world.ports.blobs.as_ref()).await.context("the secret of the pages cannot be read")?;
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

/// Returns the services of the admin pages, or `None` if the settings do not allow them at this address.
fn admin(world: &World, listen: SocketAddr) -> Option<AdminServices> {
    if !world.config.has_admin_pages(listen.ip().is_loopback()) {
        return None;
    }
    let trusted_header = world.config.admin.trusted_header.as_ref().and_then(|name| name.parse::<HeaderName>().ok());
    let settings = world.config.effective.iter().map(|setting| ShownSetting {
        table: setting.table.clone(),
        key: setting.key.clone(),
        value: setting.value.to_string(),
        origin: setting.origin.as_str().to_owned(),
    });
    Some(AdminServices::new(&world.desk, trusted_header, settings.collect()))
}

/// Runs the schedules by the local clock, as EventBridge does on a stack. The store keeps the last run of each.
async fn schedules(world: Arc<World>, stop: Arc<AtomicBool>) {
    // Monotonic time of the next check for unpublished pages.
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
    /// Name of the mark that stores the schedule's last run.
    name: &'static str,
    every: Millis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Dispatch,
    /// Runs early if pages are unpublished and the setting `publish_every` allows it.
    Publish,
    Sign,
    /// Runs for the first time one period after the first start, like [`Work::Archive`].
    Sample,
    /// Merges the indexes of older years, and purges pages that are gone.
    Archive,
}

impl Schedule {
    async fn run_if_due(&self, world: &World, next_look: &mut Millis) -> Result<()> {
        let now = world.clock.now();
        let (last, seen) = world.ports.marks.load(self.name).await?;
        // A mark in the future was written while the clock was wrong.
        if let Some(last) = last.filter(|last| *last <= now)
            && now < last + self.every
        {
            let monotonic = world.clock.monotonic();
            // New pages may be published early.
            let may_run = self.work == Work::Publish && now >= last + world.config.publish_every;
            if !may_run || monotonic < *next_look {
                return Ok(());
            }
            *next_look = monotonic + LOOK_FOR_NEWS;
            if !world.library.has_unpublished().await? {
                return Ok(());
            }
        }
        // Write the mark first, so that a failed run is retried after one period, and not five times a second.
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
                tracing::debug!(polls = sent.polls, discoveries = sent.discoveries, "due work was sent");
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
                tracing::debug!("the directory of keys was signed again");
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

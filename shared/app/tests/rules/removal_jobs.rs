//! Removal jobs: the stage that judges a page sends a job and writes neither the index nor the record. The job removes
//! the page once, however often the job runs, and it does not remove a page that was seen since.

use crate::index::{accept, ask, removal};
use crate::removal::chain;
use crate::test_world::*;
use std::sync::atomic::{AtomicBool, Ordering};

const TEXT: &str = "The curlew walks along the edge of the water and probes the mud for worms and small crabs.";

async fn indexed() -> TestWorld {
    let world = TestWorld::new();
    accept(&world, "a", TEXT).await;
    world.publish().await;
    world.sleep(Millis::from_days(2)).await;
    world
}

/// Re-checks the page without running the jobs that follow.
async fn recheck(world: &TestWorld, reply: Reply) {
    world.web.keep(A, reply);
    let job = Job::new(visit("example.org", &[A], &Purpose::Recheck)).traced(Some(chain()));
    assert_eq!(world.program().crawler.fetch.run(&job.as_visit()).await.unwrap(), Verdict::Done);
}

async fn waiting(world: &TestWorld) -> Vec<(RemovalJob, Timestamp)> {
    let jobs = world.queued(QueueName::Remove).await.into_iter();
    jobs.map(|(job, due)| if let Job { work: Work::Remove(job), .. } = job { (job, due) } else { panic!("{job:?}") })
        .collect()
}

async fn row(world: &TestWorld) -> (Page, Version) {
    world.pages.get(&page(A)).await.unwrap().unwrap()
}

async fn found(world: &TestWorld) -> u64 {
    ask(world, "curlew").await.total
}

fn judged(at: Timestamp) -> RemovalJob {
    RemovalJob::remove(page(A), A.to_owned(), Gone::NotFound, at)
}

/// Returns a document with the text of the record, and with this markup in its head.
fn own_text(head: &str) -> Reply {
    let body = format!(
        "<html><head><title>Page a</title>{head}</head><body><article><h1>Page a</h1><p>{TEXT}</p></article></body></html>"
    );
    html_reply(body)
}

#[tokio::test(start_paused = true)]
async fn a_recheck_that_finds_a_page_gone_sends_a_job_and_writes_nothing() {
    let world = indexed().await;
    let (before, objects) = (row(&world).await, world.keys("").await);
    let manifest = world.blobs.get("manifests/2026.json").await.unwrap().unwrap().bytes;
    recheck(&world, status(404)).await;
    let sent = waiting(&world).await;
    let expected = judged(world.now());
    assert_eq!(sent, [(expected.clone(), world.now())], "the job must be due at once");
    let traces: Vec<_> = world.queued(QueueName::Remove).await.into_iter().map(|(job, _)| job.trace).collect();
    assert_eq!(traces, [Some(chain())]);
    assert_eq!(row(&world).await, before, "the row must not be marked as checked");
    assert_eq!(world.keys("").await, objects);
    assert_eq!(world.blobs.get("manifests/2026.json").await.unwrap().unwrap().bytes, manifest);

    for _ in 0..2 {
        assert_eq!(world.program().library.removal.run(&expected).await.unwrap(), Verdict::Done);
        assert_eq!(world.gone(A).await, Some(Gone::NotFound));
        assert_eq!((found(&world).await, world.keys("audit/").await.len()), (0, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_lost_is_sent_anew_by_the_next_recheck() {
    let world = indexed().await;
    recheck(&world, status(404)).await;
    world.settle(QueueName::Remove, 9, world.now()).await;
    assert_eq!(waiting(&world).await, []);
    world.sleep(Millis::from_days(1)).await;
    recheck(&world, status(404)).await;
    world.remove_what_was_sent().await;
    assert_eq!(world.gone(A).await, Some(Gone::NotFound));
}

#[tokio::test(start_paused = true)]
async fn a_late_job_leaves_a_page_alone_that_was_found_present_or_accepted_since() {
    let changes: [fn(&mut Page, Timestamp); 2] =
        [|page, now| page.checked_at = Some(now), |page, now| (page.at, page.checked_at) = (now, None)];
    for change in changes {
        let world = indexed().await;
        let job = judged(world.now());
        world.sleep(Millis::from_mins(5)).await;
        let (mut page, seen) = row(&world).await;
        change(&mut page, world.now());
        world.pages.swap(seen, &page).await.unwrap();
        assert!(matches!(world.program().library.removal.run(&job).await.unwrap(), Verdict::Drop(_)));
        assert_eq!((row(&world).await.0, found(&world).await), (page, 1));
        // A later judgement applies to the page.
        assert_eq!(world.program().library.removal.run(&judged(world.now())).await.unwrap(), Verdict::Done);
        assert_eq!(found(&world).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_has_begun_is_ended_although_the_page_was_seen_since() {
    for cut in 0.. {
        let world = indexed().await;
        let job = judged(world.now());
        let faults = Faults::crash_at(cut, world.politeness.clock.clone());
        let ended = world.faulty_program(&faults).library.removal.run(&job).await;
        assert_eq!(ended.is_err(), faults.has_crashed(), "{cut}");
        if !faults.has_crashed() {
            assert!(cut > 6, "a removal has more steps than {cut}");
            return;
        }
        world.sleep(Millis::from_days(1)).await;
        recheck(&world, own_text("")).await;
        world.sleep(Millis::from_mins(5)).await;
        let done = world.program().library.removal.run(&job).await.unwrap();
        match world.state(A).await {
            Some(PageState::Accepted { .. }) => assert!(matches!(done, Verdict::Drop(_)) && found(&world).await == 1),
            _ => assert_eq!((done, found(&world).await), (Verdict::Done, 0), "{cut}"),
        }
    }
}

/// Rows of pages that another process writes just before the first swap.
struct Beaten(Arc<MemoryPages>, AtomicBool);

#[async_trait]
impl Pages for Beaten {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.0.get(id).await
    }

    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.0.load_eventual(id).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        self.0.insert(page).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        if !self.1.swap(true, Ordering::Relaxed)
            && let Some((row, at)) = self.0.get(&page.id).await?
        {
            self.0.swap(at, &Page { doubted_at: Some(row.at), ..row }).await?;
        }
        self.0.swap(seen, page).await
    }

    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        self.0.list(after, limit).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_that_somebody_writes_meanwhile_does_not_stay_accepted() {
    let world = indexed().await;
    let beaten = Arc::new(Beaten(world.pages.clone(), AtomicBool::new(false)));
    let clock = world.politeness.clock.clone();
    let removal = Removal::new(beaten, world.blobs.clone(), clock, Arc::new(()));
    assert_eq!(removal.run(&judged(world.now())).await.unwrap(), Verdict::Done);
    assert_eq!(world.gone(A).await, Some(Gone::NotFound));
}

#[tokio::test(start_paused = true)]
async fn a_date_that_a_recheck_finds_goes_to_the_manifest_by_a_job() {
    let world = indexed().await;
    let before = row(&world).await;
    let date = "2026-12-24T00:00:00Z".parse().unwrap();
    let head = "<meta name=robots content=\"unavailable_after: 2026-12-24T00:00:00Z\">";
    recheck(&world, own_text(head)).await;
    let sent = waiting(&world).await;
    let [(job, _)] = sent.as_slice() else { panic!("{sent:?}") };
    assert!(matches!(&job.change, IndexChange::Expire { at, validators: Some(_) } if *at == Some(date)), "{job:?}");
    assert_eq!(row(&world).await, before, "the row must not be marked as checked");
    let judged_at = world.now();
    world.sleep(Millis::from_mins(5)).await;
    for _ in 0..2 {
        assert_eq!(world.program().library.removal.run(job).await.unwrap(), Verdict::Done);
        let row = row(&world).await.0;
        assert_eq!((row.expires, row.checked_at), (Some(date), Some(judged_at)));
    }
    assert_eq!(found(&world).await, 1);

    // Another re-check finds the same date, and a third one finds none. The first job comes once more.
    world.remove_what_was_sent().await;
    world.sleep(Millis::from_days(1)).await;
    recheck(&world, own_text(head)).await;
    assert_eq!(waiting(&world).await, [], "nothing has changed");
    assert_eq!(row(&world).await.0.checked_at, Some(world.now()));
    assert!(matches!(world.program().library.removal.run(job).await.unwrap(), Verdict::Drop(_)));
    recheck(&world, own_text("")).await;
    world.remove_what_was_sent().await;
    assert_eq!(row(&world).await.0.expires, None);
    recheck(&world, own_text(head)).await;
    world.remove_what_was_sent().await;
    world.sleep(date.since(world.now()) + Millis(1)).await;
    assert_eq!(found(&world).await, 0, "the page has expired");

    // The daily sample sends the removal of the page.
    world.program().recheck(Some(0)).await.unwrap();
    let sent = waiting(&world).await;
    assert!(matches!(sent.as_slice(), [(job, _)] if job.change == IndexChange::Remove { reason: Gone::Expired }));
    world.remove_what_was_sent().await;
    assert_eq!(world.gone(A).await, Some(Gone::Expired));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_has_not_changed_costs_no_job() {
    let world = indexed().await;
    for reply in [own_text(""), status(304), Reply { body: html("").into(), ..status(503) }] {
        world.sleep(Millis::from_days(8)).await;
        recheck(&world, reply).await;
        assert_eq!(waiting(&world).await, []);
    }
    removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
    recheck(&world, status(404)).await;
    assert_eq!(waiting(&world).await, [], "a page that is gone is not judged again");
}

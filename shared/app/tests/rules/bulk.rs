//! Work on many rows sends its jobs in hundreds, and resumes where it was interrupted.

use crate::test_world::*;
use curlew_crawl::pages::sample::{HowMany, Sample};
use curlew_people::suggest::ListedFeed;

/// Returns the maximum number of calls of a sample of `pages` pages. For each page the sample lists three rows, five
/// hundred at a time, and it sends visits two hundred at a time. A few more calls find its start.
fn calls_for(pages: u64) -> u64 {
    3 * pages / 500 + pages / 200 + 20
}

/// Returns a sample whose process ends just before a call to the rows or the queue.
fn sample(world: &TestWorld, faults: &Arc<Faults>) -> Sample {
    Sample {
        politeness: world.politeness.clone(),
        pages: Arc::new(Faulty::new(world.pages.clone(), faults.clone())),
        queue: Arc::new(Faulty::new(world.jobs.clone(), faults.clone())),
    }
}

async fn with_pages(world: &TestWorld, count: u64) {
    let template = accepted(HOME);
    for n in 0..count {
        let host = HostKey::new(&format!("h{n}.example")).unwrap();
        let url = format!("https://{host}/");
        world.pages.insert(&Page { id: page(&url), url, host, ..template.clone() }).await.unwrap();
    }
}

/// Returns the pages of the visits that were sent since the last call of this function.
async fn visited(world: &TestWorld) -> BTreeSet<PageId> {
    let mut pages = BTreeSet::new();
    for delivery in world.jobs.receive(QueueName::Fetch, usize::MAX, Millis(1), world.now()).await.unwrap() {
        let Ok(Job { work: Work::Fetch(visit), .. }) = delivery.job else { panic!("no visit") };
        pages.extend(visit.items.into_iter().map(|item| item.page));
        world.jobs.ack(&delivery.receipt).await.unwrap();
    }
    pages
}

#[tokio::test(start_paused = true)]
async fn a_sample_sends_its_visits_in_hundreds() {
    let world = TestWorld::new();
    with_pages(&world, 6_000).await;
    let faults = Faults::none(world.politeness.clock.clone());
    assert_eq!(sample(&world, &faults).run(HowMany::Daily(2_000)).await.unwrap().indexed, 6_000, "all pages are due");
    assert_eq!(visited(&world).await.len(), 6_000);
    assert!(faults.calls() <= calls_for(6_000), "{} calls for 6,000 visits", faults.calls());
}

#[tokio::test(start_paused = true)]
async fn a_sample_that_is_cut_off_each_day_goes_on_where_it_was() {
    let world = TestWorld::new();
    with_pages(&world, 36_000).await;
    let mut seen = BTreeSet::new();
    for _ in 0..12 {
        // A portion of 10,000 pages lists 30,000 rows and sends 10,000 visits. The process ends in the second portion.
        let faults = Faults::crash_at(60 + 50 + 5, world.politeness.clock.clone());
        assert!(sample(&world, &faults).run(HowMany::AtMost(20_000)).await.is_err());
        for id in visited(&world).await {
            world.change_page(&id, |row| row.checked_at = Some(world.now())).await;
            seen.insert(id);
        }
        world.sleep(Millis::from_days(2)).await;
    }
    assert_eq!(seen.len(), 36_000, "every page must have its turn");
}

#[tokio::test(start_paused = true)]
async fn sites_and_feeds_that_are_named_in_a_list_are_taken_together() {
    let world = TestWorld::new();
    world.blobs.put("hidden-hosts.json", r#"{"hosts":["blocked.example"]}"#.into()).await.unwrap();
    let mut names: Vec<String> = (0..500).map(|n| format!("site{n}.example")).collect();
    names[7] = "not a site".into();
    names[8] = "www.blocked.example".into();
    let faults = Faults::none(world.politeness.clock.clone());
    let blobs = Arc::new(Faulty::new(world.blobs.clone(), faults.clone()));
    let suggest = Suggest {
        politeness: Arc::new(Politeness { blobs, ..Politeness::clone(&world.politeness) }),
        queue: Arc::new(Faulty::new(world.jobs.clone(), faults.clone())),
        ..world.suggest()
    };
    let outcomes = suggest.sites(&names).await.unwrap();
    let refused: Vec<usize> = (0..500).filter(|n| outcomes[*n].is_err()).collect();
    assert_eq!((outcomes.len(), refused), (500, vec![7, 8]));
    assert_eq!(world.jobs.left().len(), 498);
    assert!(faults.calls() <= 1 + 3, "the list of blocked hosts is read once, jobs are sent in hundreds");
    assert!(suggest.sites(&names).await.unwrap()[0].is_ok(), "naming them once more does no harm");
    let listed = |n| ListedFeed { url: format!("https://site{n}.example/feed"), folder: vec!["Sites".to_owned()] };
    let listed: Vec<ListedFeed> = (0..500).map(listed).collect();
    let before = faults.calls();
    assert!(suggest.feeds(&listed).await.unwrap().iter().all(Result::is_ok));
    assert!(faults.calls() - before <= 1 + 3);
}

//! Serves the pages on loopback with a few made-up results, to be looked at in a browser:
//! `cargo run -p curlew-web --example look -- 127.0.0.1:8088`, then `/?q=curlew`.
#![allow(clippy::disallowed_methods, reason = "a program for looking at the pages moves its clock by real time")]
#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "an example over the tests' own front"
)]

#[path = "../tests/it/support.rs"]
mod support;

use bytes::Bytes;
use curlew_catalog::indexed_years::IndexedYear;
use curlew_catalog::results::SearchHit;
use curlew_model::{HoldReason, Millis, QueueName, ThumbnailId, Timestamp};
use curlew_people::activity::DayCounts;
use curlew_people::stats::PublicCounts;
use curlew_ports::QueueCount;
use curlew_web::{PageSettings, QueueStatus, SystemStatus};
use support::{Backend, World, page, settings};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8088".to_owned());
    let settings = PageSettings { base_url: None, ..settings() };
    let world = World::with(backend(), settings);
    let (router, clock) = (world.router, world.clock);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(STEP.as_duration()).await;
            clock.advance(STEP);
        }
    });
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, router).await
}

/// One step of the clock.
const STEP: Millis = Millis::from_secs(1);

fn backend() -> Backend {
    let mut backend = Backend::default();
    for (n, (site, url, title, snippet, day)) in PAGES.iter().enumerate() {
        let mut hit = SearchHit { site: (*site).to_owned(), ..page(url, title, snippet) };
        hit.published = Timestamp::parse_day_or_instant(day).ok();
        if n % 3 != 1 {
            let id = ThumbnailId::new(&format!("{n:032x}")).unwrap();
            backend.thumbnails.insert(id.clone(), picture(n));
            hit.thumbnail = Some(id);
        }
        backend.pages.push(hit);
    }
    for n in 0..1_240 {
        let url = format!("https://archive.tide.example/{n}");
        backend.pages.push(page(&url, &format!("Curlew count, week {n}"), "How many curlew were seen."));
    }
    let published = Timestamp::parse_day_or_instant("2026-11-21T02:00:04Z").ok();
    let queue =
        |stage, ready, waiting| QueueStatus { stage, count: QueueCount { ready, waiting, ..QueueCount::default() } };
    backend.status = SystemStatus {
        index: vec![
            IndexedYear { year: 2026, pages: 48_310, splits: 9, published, is_newer: false },
            IndexedYear { year: 2025, pages: 1_204, splits: 1, published, is_newer: false },
        ],
        counted: Some(PublicCounts {
            sites: 310,
            feeds: 1_204,
            accepted: 49_514,
            pending: 12,
            rejected: 3_120,
            gone: 451,
            held: [(HoldReason::TooManyRequests, 2), (HoldReason::Network, 5)].into(),
        }),
        queues: vec![
            queue(QueueName::Discover, 0, 3),
            queue(QueueName::Poll, 4, 12),
            queue(QueueName::Fetch, 132, 1_018),
        ],
        counted_at: None,
        due_since: published,
        activity: (1..=30)
            .map(|n| DayCounts {
                day: format!("2026-11-{n:02}"),
                polls: 900 + 37 * (n % 7),
                accepted: 120 * (n % 5),
                holds: n % 4,
            })
            .collect(),
    };
    backend
}

/// Sky, water and a low sun, a little different each time.
fn picture(n: usize) -> Bytes {
    let shift = u8::try_from(n * 17 % 90).unwrap_or_default();
    let image = image::RgbImage::from_fn(240, 160, |x, y| {
        let ripple = u8::try_from((x * 3 + y * 7) % 9).unwrap_or_default();
        let fade = u8::try_from(y / 2).unwrap_or_default();
        if y < 95 {
            image::Rgb([225 - fade, 200 - shift / 2, 150 + shift])
        } else {
            image::Rgb([70 + shift / 2, 95 + ripple * 3, 105 + ripple * 2])
        }
    });
    let mut jpeg = std::io::Cursor::new(Vec::new());
    image.write_to(&mut jpeg, image::ImageFormat::Jpeg).unwrap();
    jpeg.into_inner().into()
}

/// Site, URL, title, snippet, day.
const PAGES: [(&str, &str, &str, &str, &str); 7] = [
    (
        "Mudflat Diary",
        "https://mudflat.example/2026/05/the-long-bill",
        "What a curlew does with fifteen centimetres of bill",
        "The tip bends on its own. A curlew feels for worms that no other wader can reach, and the bill of the female is longer still, so that the pair does not compete for the same mud.",
        "2026-05-01",
    ),
    (
        "Estuary Weather",
        "https://weather.estuary.example/notes/spring-tides",
        "Spring tides, and why the curlew roost moves inland",
        "Twice a month the water covers the whole flat. The curlew leave an hour before high tide for the fields behind the dyke.",
        "2026-04-17",
    ),
    (
        "Vogelwarte am Meer",
        "https://vogelwärter.example/brachvogel/zaehlung-2026",
        "Brachvogel-Zählung 2026: 1 312 Vögel an einem Morgen – der englische Name curlew ahmt den Ruf nach",
        "Von der Düne aus gezählt. Der Ruf, den der Name curlew nachahmt, war bis zum Deich zu hören.",
        "2026-03-02",
    ),
    (
        "Definitely Your Bank",
        "https://аррӏе.com/login/curlew",
        "A host whose letters are not what they seem (curlew)",
        "Shown in punycode, whatever the site calls itself. curlew & <b>mud</b>.",
        "2026-02-11",
    ),
    ("", "https://plain.example/", "Curlew", "", ""),
    (
        "مذكرات الساحل",
        "https://coast.example/ar/curlew",
        "الكروان والمد curlew",
        "يمشي الكروان على الطين عند الجزر curlew ويعود مع المد.",
        "2026-01-09",
    ),
    (
        "The Society for the Long-Winded Naming of Perfectly Ordinary Wetland Birds and Their Habits",
        "https://society.example/archive/proceedings/volume-112/issue-4/a-very-long-path-that-goes-on-and-on/curlew.html",
        "Averyveryveryverylongunbrokenwordthatatitleshouldnothavebutdoes and a curlew after it",
        "Curlew, curlew, curlew: said three times.",
        "2025-12-24",
    ),
];

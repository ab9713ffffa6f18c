//! Tests the bot walls.

use super::{demo, get};
use crate::live::Mode;
use crate::wall::Wall;
use std::collections::BTreeSet;

const HOST: &str = "harbour-lantern.test";

#[tokio::test]
async fn each_kind_of_wall_stands_before_its_part_of_a_site_until_it_is_taken_down() {
    let running = demo().await;
    let site = running.farm().site(HOST).unwrap();
    let articles = [&site.entries()[0].0, &site.entries()[1].0];
    let image = format!("http://{HOST}/images/site.png");
    let (robots, feed) = (format!("http://{HOST}/robots.txt"), site.feed_urls()[0].clone());
    let urls = [&robots, &site.start_url, &feed, articles[0], articles[1], &image];
    let mut open = Vec::new();
    for url in urls {
        open.push(get(&running, url).await.unwrap().bytes().await.unwrap());
    }
    let mut texts = BTreeSet::new();
    for (name, wall) in Wall::KINDS {
        assert!(running.set_mode(HOST, Mode::Wall(wall)));
        for url in urls.iter().cycle().take(wall.after) {
            assert_eq!(get(&running, url).await.unwrap().status(), 200, "{name}");
        }
        let mut stopped = Vec::new();
        for (url, open) in urls.iter().zip(&open) {
            let answer = get(&running, url).await.unwrap();
            let status = answer.status().as_u16();
            let body = answer.bytes().await.unwrap();
            if body != open {
                assert_eq!(status, wall.status, "{name}");
                stopped.push(*url);
                texts.insert(body);
            }
        }
        let expected = match name {
            "robots.txt alone" => vec![&robots],
            "feeds alone" => vec![&feed],
            "images alone" => vec![&image],
            "402" | "a consent page" | "a JavaScript shell" => urls[1..].to_vec(),
            _ => urls.to_vec(),
        };
        assert_eq!(stopped, expected, "{name}");
    }
    assert!(texts.len() > 12, "the number differs from call to call");
    running.set_mode(HOST, Mode::Normal);
    assert_eq!(get(&running, articles[0]).await.unwrap().bytes().await.unwrap(), open[3]);
    running.stop().await;
}

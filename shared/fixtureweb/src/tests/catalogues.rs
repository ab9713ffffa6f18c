//! Tests the sites with more articles than their feed lists.

use super::{get, running};
use crate::catalogue::{BLOGGER, Catalogue};
use crate::farm::Farm;
use crate::log::Kind;
use flate2::read::GzDecoder;
use std::collections::BTreeSet;
use std::io::Read as _;

/// Returns the values of an attribute or the texts of an element, whichever `before` ends with.
fn all<'a>(text: &'a str, before: &str, after: char) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

fn article_urls(kind: Catalogue, pages: usize) -> BTreeSet<String> {
    (0..pages).map(|n| format!("http://catalogue-{}.test/news/{n}.html", kind.name())).collect()
}

#[tokio::test]
async fn every_article_of_a_feed_is_in_one_of_its_documents() {
    let farm = Farm::catalogues(&Catalogue::ALL.map(|kind| (kind, 230)));
    let running = running(farm).await;
    for kind in [Catalogue::WordPress, Catalogue::Blogger, Catalogue::Archived] {
        let site = running.farm().site(&format!("catalogue-{}.test", kind.name())).unwrap();
        let home = get(&running, &site.start_url).await.unwrap().text().await.unwrap();
        let feed = &site.feed_urls()[0];
        assert!(home.contains(&format!("href=\"{feed}\"")), "{home}");
        let (mut url, mut found, mut documents) = (feed.clone(), BTreeSet::new(), 0);
        loop {
            let answer = get(&running, &url).await.unwrap();
            if answer.status() == 404 {
                break;
            }
            documents += 1;
            let text = answer.text().await.unwrap();
            let read = feed_rs::parser::parse(text.as_bytes()).unwrap();
            assert!(read.entries.len() <= 50);
            found.extend(read.entries.iter().map(|entry| entry.links[0].href.clone()));
            let relation = if kind == Catalogue::Archived { "prev-archive" } else { "next" };
            let next = read.links.iter().find(|link| link.rel.as_deref() == Some(relation));
            url = match (kind, next) {
                (Catalogue::WordPress, _) => format!("{feed}?paged={}", documents + 1),
                (Catalogue::Archived, Some(link)) => {
                    assert_eq!(text.contains("<fh:archive"), documents > 1);
                    format!("http://{}{}", site.host, link.href)
                }
                (_, Some(link)) => link.href.clone(),
                (_, None) => break,
            };
        }
        assert_eq!(
            documents,
            match kind {
                Catalogue::WordPress => 23,
                Catalogue::Blogger => 10,
                _ => 6,
            }
        );
        assert_eq!(found, article_urls(kind, 230), "{kind:?}");
        assert_eq!(found, site.entries().iter().map(|(url, _)| url.clone()).collect());
        let last = get(&running, "http://catalogue-wordpress.test/news/229.html").await.unwrap();
        assert_eq!(last.status(), 200);
    }
    assert!(running.calls().iter().any(|call| call.host == BLOGGER));
    let many = "http://catalogue-blogger.test/feeds/posts/default?start-index=101&max-results=500";
    let many = get(&running, many).await.unwrap().text().await.unwrap();
    assert_eq!((many.matches("<entry>").count(), many.contains("rel=\"next\"")), (130, false));
    running.stop().await;
}

#[tokio::test]
async fn new_articles_appear_in_the_first_document_only() {
    let running = running(Farm::catalogues(&[(Catalogue::WordPress, 30)])).await;
    let new = running.publish("catalogue-wordpress.test", 1);
    for (path, entries) in [("/feed/", 11), ("/feed/?paged=2", 10)] {
        let text =
            get(&running, &format!("http://catalogue-wordpress.test{path}")).await.unwrap().text().await.unwrap();
        assert_eq!((text.matches("<item>").count(), text.contains(&new[0])), (entries, entries == 11));
    }
    assert_eq!(get(&running, &new[0]).await.unwrap().status(), 200);
    running.stop().await;
}

#[tokio::test]
async fn every_page_of_a_site_without_a_feed_is_in_one_of_its_sitemaps() {
    let running = running(Farm::catalogues(&[(Catalogue::Sitemap, 625)])).await;
    let host = "http://catalogue-sitemap.test";
    let robots = get(&running, &format!("{host}/robots.txt")).await.unwrap().text().await.unwrap();
    let index = all(&robots, "Sitemap: ", '\n')[0].to_owned();
    let index = get(&running, &index).await.unwrap().text().await.unwrap();
    let (maps, mut found) = (all(&index, "<loc>", '<'), BTreeSet::new());
    assert_eq!(maps.len(), 3);
    for map in maps {
        let body = get(&running, map).await.unwrap().bytes().await.unwrap();
        let mut text = String::new();
        match map.ends_with(".gz") {
            true => GzDecoder::new(&body[..]).read_to_string(&mut text).map(drop).unwrap(),
            false => text = String::from_utf8(body.to_vec()).unwrap(),
        }
        assert_eq!(text.contains("<news:title>"), map.ends_with("-1.xml"));
        found.extend(all(&text, "<url><loc>", '<').into_iter().map(str::to_owned));
    }
    assert_eq!(found, article_urls(Catalogue::Sitemap, 625));
    for missing in ["/feed.xml", "/sitemap-4.xml.gz", "/sitemap-1.xml.gz", "/sitemap-0.xml.gz"] {
        assert_eq!(get(&running, &format!("{host}{missing}")).await.unwrap().status(), 404, "{missing}");
    }
    assert!(running.farm().site("catalogue-sitemap.test").unwrap().feed_urls().is_empty());
    assert_eq!(running.calls().iter().filter(|call| call.kind == Kind::Sitemap).count(), 4);
    running.stop().await;
}

//! Sites that differ in article markup, in language, and in the location of articles and pictures.

use crate::blog::{Blog, Plan};
use crate::coding::Coding;
use crate::feeds::Format;
use crate::log::Kind;
use crate::publisher::{Pictures, Style};
use crate::reply::Reply;
use crate::site::Site;
use crate::text::{BIRDS, BORGO, CYCLING, LIBRI, LITTORAL, PATIO, STRADE, WALD, WALKS, WORKSHOP, YAMAMICHI};

pub(crate) fn sites() -> Vec<Site> {
    vec![
        corriere_delle_colline(),
        bird_ledger(),
        the_slow_cyclist(),
        quaderno_aperto(),
        citta_lenta(),
        tinker_bench(),
        waldwege(),
        cahiers_du_littoral(),
        huerta_y_patio(),
        yamamichi(),
        lens_and_lane(),
    ]
}

fn corriere_delle_colline() -> Site {
    let mut blog = Blog::new(
        "corriere-delle-colline.test",
        "Corriere delle Colline",
        "Notizie dai paesi tra il fiume e i vigneti",
        &BORGO,
        Style::JsonLd,
    );
    blog.about = "local news with JSON-LD NewsArticle and Open Graph; brotli when offered";
    blog.coding = Some(Coding::Brotli);
    blog.posts(11).feed(Plan::new("/rss/notizie.xml", Format::Rss2));
    blog.finish()
}

fn bird_ledger() -> Site {
    let mut blog = Blog::new(
        "bird-ledger.test",
        "The Bird Ledger",
        "Counts, calls and cold fingers from the estuary",
        &BIRDS,
        Style::Microdata,
    );
    blog.about = "articles in Microdata, an Atom feed";
    blog.posts(9).feed(Plan::new("/atom.xml", Format::Atom));
    blog.finish()
}

fn the_slow_cyclist() -> Site {
    let mut blog = Blog::new(
        "the-slow-cyclist.test",
        "The Slow Cyclist",
        "Long ways round, with soup",
        &CYCLING,
        Style::OpenGraph,
    );
    blog.about = "Open Graph in the head, nothing but divs in the body; zstd when offered";
    blog.coding = Some(Coding::Zstd);
    blog.posts(9).feed(Plan::new("/index.xml", Format::Rss2));
    blog.finish()
}

fn quaderno_aperto() -> Site {
    let mut blog = Blog::new(
        "quaderno-aperto.test",
        "Quaderno aperto",
        "Libri letti piano e qualche volta due volte",
        &LIBRI,
        Style::Plain,
    );
    blog.about = "plain HTML5: an article element and no metadata at all; guillemets in titles";
    blog.posts(9).feed(Plan { full: true, ..Plan::new("/feed.atom", Format::Atom) });
    blog.finish()
}

fn citta_lenta() -> Site {
    let mut blog = Blog::new(
        "www.citta-lenta.test",
        "Città lenta",
        "Passeggiate tra portici, scale e cortili",
        &STRADE,
        Style::OpenGraph,
    );
    blog.about = "the bare domain redirects to www, where everything is; both are one host key";
    blog.posts(7).feed(Plan::new("/feed.xml", Format::Rss2));
    let to_www = Reply::redirect(301, "http://www.citta-lenta.test/").of_kind(Kind::Home);
    blog.at("http://citta-lenta.test/", to_www);
    blog.start("http://citta-lenta.test/");
    blog.finish()
}

fn tinker_bench() -> Site {
    let mut blog = Blog::new(
        "tinker-bench.test",
        "Tinker Bench",
        "Repairs of small machines, drawn and measured",
        &WORKSHOP,
        Style::Microdata,
    );
    blog.about = "home page and feed on the bare domain, articles on blog.: two robots.txt, one host key";
    blog.publisher.page_host = "blog.tinker-bench.test".to_owned();
    blog.posts(7).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn waldwege() -> Site {
    let mut blog =
        Blog::new("waldwege.test", "Waldwege", "Stille Runden zwischen Buchen und Bächen", &WALD, Style::JsonLd);
    blog.about = "German, JSON-LD";
    blog.posts(7).feed(Plan::new("/rss.xml", Format::Rss2));
    blog.finish()
}

fn cahiers_du_littoral() -> Site {
    let mut blog = Blog::new(
        "cahiers-du-littoral.test",
        "Cahiers du littoral",
        "Marées, cabanes et sentiers de la côte",
        &LITTORAL,
        Style::OpenGraph,
    );
    blog.about = "French, Open Graph, an Atom feed";
    blog.posts(6).feed(Plan::new("/feed/atom", Format::Atom));
    blog.finish()
}

fn huerta_y_patio() -> Site {
    let mut blog = Blog::new(
        "huerta-y-patio.test",
        "Huerta y patio",
        "Macetas, acequias y semillas viejas",
        &PATIO,
        Style::Microdata,
    );
    blog.about = "Spanish, Microdata";
    blog.posts(6).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn yamamichi() -> Site {
    let mut blog = Blog::new("yamamichi.test", "山道ノート", "峠と茶屋と季節の記録", &YAMAMICHI, Style::Plain);
    blog.about = "Japanese in UTF-8: enough characters, hardly any spaces";
    blog.posts(5).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn lens_and_lane() -> Site {
    let mut blog =
        Blog::new("lens-and-lane.test", "Lens and Lane", "Old roads, one photograph each", &WALKS, Style::OpenGraph);
    blog.about = "pictures are on another registrable domain, static.picture-shelf.test, with a robots.txt of its own";
    blog.publisher.pictures = Pictures::Elsewhere("static.picture-shelf.test");
    blog.posts(6).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

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
        Blog::new("corriere-delle-colline.test", &BORGO, Style::JsonLd)
            .titled("Corriere delle Colline", "Notizie dai paesi tra il fiume e i vigneti")
            .about("local news with JSON-LD NewsArticle and Open Graph; brotli when offered")
            .set(|blog| blog.coding = Some(Coding::Brotli))
            .posts(11)
            .feed(Plan::new("/rss/notizie.xml", Format::Rss2))
            .finish(),
        Blog::new("bird-ledger.test", &BIRDS, Style::Microdata)
            .titled("The Bird Ledger", "Counts, calls and cold fingers from the estuary")
            .about("articles in Microdata, an Atom feed")
            .posts(9)
            .feed(Plan::new("/atom.xml", Format::Atom))
            .finish(),
        Blog::new("the-slow-cyclist.test", &CYCLING, Style::OpenGraph)
            .titled("The Slow Cyclist", "Long ways round, with soup")
            .about("Open Graph in the head, nothing but divs in the body; zstd when offered")
            .set(|blog| blog.coding = Some(Coding::Zstd))
            .posts(9)
            .feed(Plan::new("/index.xml", Format::Rss2))
            .finish(),
        Blog::new("quaderno-aperto.test", &LIBRI, Style::Plain)
            .titled("Quaderno aperto", "Libri letti piano e qualche volta due volte")
            .about("plain HTML5: an article element and no metadata at all; guillemets in titles")
            .posts(9)
            .feed(Plan { full: true, ..Plan::new("/feed.atom", Format::Atom) })
            .finish(),
        citta_lenta(),
        Blog::new("tinker-bench.test", &WORKSHOP, Style::Microdata)
            .titled("Tinker Bench", "Repairs of small machines, drawn and measured")
            .about("home page and feed on the bare domain, articles on blog.: two robots.txt, one host key")
            .set(|blog| blog.publisher.page_host = "blog.tinker-bench.test".to_owned())
            .posts(7)
            .rss()
            .finish(),
        Blog::new("waldwege.test", &WALD, Style::JsonLd)
            .titled("Waldwege", "Stille Runden zwischen Buchen und Bächen")
            .about("German, JSON-LD")
            .posts(7)
            .feed(Plan::new("/rss.xml", Format::Rss2))
            .finish(),
        Blog::new("cahiers-du-littoral.test", &LITTORAL, Style::OpenGraph)
            .titled("Cahiers du littoral", "Marées, cabanes et sentiers de la côte")
            .about("French, Open Graph, an Atom feed")
            .posts(6)
            .feed(Plan::new("/feed/atom", Format::Atom))
            .finish(),
        Blog::new("huerta-y-patio.test", &PATIO, Style::Microdata)
            .titled("Huerta y patio", "Macetas, acequias y semillas viejas")
            .about("Spanish, Microdata")
            .posts(6)
            .rss()
            .finish(),
        Blog::new("yamamichi.test", &YAMAMICHI, Style::Plain)
            .titled("山道ノート", "峠と茶屋と季節の記録")
            .about("Japanese in UTF-8: enough characters, hardly any spaces")
            .posts(5)
            .rss()
            .finish(),
        Blog::new("lens-and-lane.test", &WALKS, Style::OpenGraph)
            .titled("Lens and Lane", "Old roads, one photograph each")
            .about(
                "pictures are on another registrable domain, static.picture-shelf.test, with a robots.txt of its \
                own",
            )
            .set(|blog| blog.publisher.pictures = Pictures::Elsewhere("static.picture-shelf.test"))
            .posts(6)
            .rss()
            .finish(),
    ]
}

fn citta_lenta() -> Site {
    let mut blog = Blog::new("www.citta-lenta.test", &STRADE, Style::OpenGraph);
    blog.titled("Città lenta", "Passeggiate tra portici, scale e cortili")
        .about("the bare domain redirects to www, where everything is; both are one host key");
    blog.posts(7).rss();
    let to_www = Reply::redirect(301, "http://www.citta-lenta.test/").of_kind(Kind::Home);
    blog.at("http://citta-lenta.test/", to_www);
    blog.start("http://citta-lenta.test/");
    blog.finish()
}

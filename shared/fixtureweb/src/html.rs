//! Page templates: five common kinds of article markup, and home pages.

use crate::publisher::{Post, Publisher, Style};
use serde_json::json;

/// Escapes text, also for attribute values in double quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const CSS: &str = "body{margin:0;font:18px/1.6 Georgia,serif;color:#222;background:#faf9f6}\
header,main,footer{max-width:42rem;margin:auto;padding:1rem}header a,footer{color:#556}\
nav a{margin-right:1rem}img{max-width:100%;height:auto;border-radius:4px}\
h1{line-height:1.25}.meta{color:#667;font-size:.85em}aside{font-size:.85em;border-top:1px solid #ddd}";

/// Words of a page around its article, in its language.
struct Furniture {
    home: &'static str,
    about: &'static str,
    archive: &'static str,
    by: &'static str,
    more: &'static str,
    imprint: &'static str,
}

fn furniture(lang: &str) -> Furniture {
    match lang {
        "it" => Furniture {
            home: "Home",
            about: "Chi siamo",
            archive: "Archivio",
            by: "di",
            more: "Altri articoli",
            imprint: "Un sito di prova, tutti i testi sono inventati.",
        },
        "de" => Furniture {
            home: "Start",
            about: "Über uns",
            archive: "Archiv",
            by: "von",
            more: "Weitere Beiträge",
            imprint: "Eine Probeseite, alle Texte sind erfunden.",
        },
        "fr" => Furniture {
            home: "Accueil",
            about: "À propos",
            archive: "Archives",
            by: "par",
            more: "À lire aussi",
            imprint: "Un site d’essai, tous les textes sont inventés.",
        },
        "es" => Furniture {
            home: "Inicio",
            about: "Quiénes somos",
            archive: "Archivo",
            by: "por",
            more: "Más artículos",
            imprint: "Un sitio de prueba, todos los textos son inventados.",
        },
        "ja" => Furniture {
            home: "ホーム",
            about: "このサイトについて",
            archive: "過去の記事",
            by: "文",
            more: "ほかの記事",
            imprint: "これは試験用のサイトです。",
        },
        _ => Furniture {
            home: "Home",
            about: "About",
            archive: "Archive",
            by: "by",
            more: "More to read",
            imprint: "A specimen site; every text here is made up.",
        },
    }
}

/// Returns an article's page.
pub(crate) fn article(publisher: &Publisher, style: Style, post: &Post) -> String {
    let head = article_head(publisher, style, post);
    let body = match style {
        Style::WordPress => wordpress_body(publisher, post),
        Style::Microdata => microdata_body(publisher, post),
        Style::JsonLd | Style::Plain => plain_body(publisher, post),
        Style::OpenGraph => divs_body(publisher, post),
    };
    let class = if style == Style::WordPress {
        format!(" class=\"post-template-default single single-post postid-{} wp-embed-responsive\"", 100 + post.number)
    } else {
        String::new()
    };
    document(publisher, &head, &class, &body)
}

fn document(publisher: &Publisher, head: &str, body_attributes: &str, body: &str) -> String {
    let f = furniture(publisher.bank.lang);
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{head}<style>{CSS}</style>\n</head>\n<body{body_attributes}>\n<header><a href=\"/\">{}</a>\n<nav><a href=\"/\">{}</a><a href=\"/about\">{}</a><a href=\"/archive\">{}</a></nav></header>\n<main>\n{body}</main>\n<footer><p>© 2026 {} · {}</p></footer>\n</body>\n</html>\n",
        publisher.bank.lang,
        escape(publisher.name),
        f.home,
        f.about,
        f.archive,
        escape(publisher.name),
        f.imprint,
    )
}

fn article_head(publisher: &Publisher, style: Style, post: &Post) -> String {
    let mut head = String::new();
    if let Some(title) = &post.title {
        head.push_str(&format!("<title>{} – {}</title>\n", escape(title), escape(publisher.name)));
    }
    head.push_str(&post.head);
    if style == Style::Plain && post.canonical.is_none() {
        return head;
    }
    let canonical = post.canonical.as_deref().unwrap_or(&post.url);
    head.push_str(&format!("<link rel=\"canonical\" href=\"{}\">\n", escape(canonical)));
    if style == Style::Plain {
        return head;
    }
    head.push_str(&format!("<meta name=\"description\" content=\"{}\">\n", escape(&post.summary)));
    if style != Style::Microdata {
        open_graph(&mut head, publisher, post);
    }
    if style == Style::WordPress {
        head.push_str("<meta name=\"generator\" content=\"WordPress 6.8.3\">\n");
        head.push_str(&format!("<link rel=\"shortlink\" href=\"{}/?p={}\">\n", publisher.home(), 100 + post.number));
        head.push_str(&format!("<link rel=\"https://api.w.org/\" href=\"{}/wp-json/\">\n", publisher.home()));
    }
    if style == Style::JsonLd {
        head.push_str(&json_ld(publisher, post));
    }
    head
}

fn open_graph(head: &mut String, publisher: &Publisher, post: &Post) {
    let mut property = |name: &str, value: &str| {
        head.push_str(&format!("<meta property=\"{name}\" content=\"{}\">\n", escape(value)));
    };
    property("og:type", "article");
    property("og:site_name", publisher.name);
    if let Some(title) = &post.title {
        property("og:title", title);
    }
    property("og:url", post.canonical.as_deref().unwrap_or(&post.url));
    property("og:description", &post.summary);
    if let Some(picture) = &post.picture {
        property("og:image", picture);
    }
    property("article:published_time", &post.at.rfc3339());
}

fn json_ld(publisher: &Publisher, post: &Post) -> String {
    let doc = json!({
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": post.title,
        "datePublished": post.at.rfc3339(),
        "dateModified": post.at.rfc3339(),
        "author": [{ "@type": "Person", "name": post.author }],
        "publisher": { "@type": "Organization", "name": publisher.name },
        "mainEntityOfPage": post.url,
        "inLanguage": publisher.bank.lang,
        "image": post.picture,
        "articleBody": post.paragraphs.join("\n\n"),
    });
    // `</` must not end the script early.
    format!("<script type=\"application/ld+json\">{}</script>\n", doc.to_string().replace("</", "<\\/"))
}

pub(crate) fn paragraphs(post: &Post) -> String {
    post.paragraphs.iter().map(|p| format!("<p>{}</p>\n", escape(p))).collect()
}

fn heading(post: &Post, attributes: &str) -> String {
    post.title.as_deref().map_or_else(String::new, |title| format!("<h1{attributes}>{}</h1>\n", escape(title)))
}

fn figure(post: &Post, attributes: &str) -> String {
    post.picture.as_deref().map_or_else(String::new, |url| {
        format!("<figure><img{attributes} src=\"{}\" width=\"640\" height=\"360\" alt=\"\"></figure>\n", escape(url))
    })
}

fn time(post: &Post, attributes: &str) -> String {
    format!("<time{attributes} datetime=\"{}\">{}</time>", post.at.rfc3339(), post.at.date())
}

fn aside(publisher: &Publisher) -> String {
    let f = furniture(publisher.bank.lang);
    format!("<aside><p>{}: <a href=\"/\">{}</a></p></aside>\n", f.more, escape(publisher.name))
}

fn wordpress_body(publisher: &Publisher, post: &Post) -> String {
    let f = furniture(publisher.bank.lang);
    format!(
        "<article id=\"post-{n}\" class=\"post-{n} post type-post status-publish format-standard hentry\">\n{}<div class=\"entry-meta\">{} <span class=\"byline\">{} <span class=\"author vcard\">{}</span></span></div>\n{}<div class=\"entry-content wp-block-post-content\">\n{}</div>\n</article>\n<nav class=\"post-navigation\"><a rel=\"prev\" href=\"/\">«</a></nav>\n{}",
        heading(post, " class=\"entry-title\""),
        time(post, " class=\"entry-date published\""),
        f.by,
        escape(&post.author),
        figure(post, " class=\"attachment-post-thumbnail wp-post-image\""),
        paragraphs(post),
        aside(publisher),
        n = 100 + post.number,
    )
}

fn microdata_body(publisher: &Publisher, post: &Post) -> String {
    let f = furniture(publisher.bank.lang);
    format!(
        "<article itemscope itemtype=\"https://schema.org/Article\">\n{}<p class=\"meta\">{} <span itemprop=\"author\" itemscope itemtype=\"https://schema.org/Person\"><span itemprop=\"name\">{}</span></span>, {}</p>\n{}<div itemprop=\"articleBody\">\n{}</div>\n</article>\n{}",
        heading(post, " itemprop=\"headline\""),
        f.by,
        escape(&post.author),
        time(post, " itemprop=\"datePublished\""),
        figure(post, " itemprop=\"image\""),
        paragraphs(post),
        aside(publisher),
    )
}

fn plain_body(publisher: &Publisher, post: &Post) -> String {
    let f = furniture(publisher.bank.lang);
    format!(
        "<article>\n{}<p class=\"meta\">{} {}, {}</p>\n{}{}</article>\n{}",
        heading(post, ""),
        f.by,
        escape(&post.author),
        time(post, ""),
        figure(post, ""),
        paragraphs(post),
        aside(publisher),
    )
}

fn divs_body(publisher: &Publisher, post: &Post) -> String {
    let f = furniture(publisher.bank.lang);
    format!(
        "<div class=\"story\">\n{}<div class=\"meta\">{} {} · {}</div>\n{}<div class=\"story-text\">\n{}</div>\n</div>\n<div class=\"share\"><a href=\"#\">+</a> <a href=\"#\">@</a></div>\n{}",
        heading(post, ""),
        f.by,
        escape(&post.author),
        post.at.date(),
        figure(post, ""),
        paragraphs(post),
        aside(publisher),
    )
}

/// A link to a feed in a home page's head.
#[derive(Clone, Debug)]
pub(crate) struct FeedLink {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) media_type: &'static str,
}

/// Returns a home page: feed links in the head, a list of articles in the body.
pub(crate) fn home(
    publisher: &Publisher,
    feeds: &[FeedLink],
    image: Option<&str>,
    posts: &[(String, String)],
) -> String {
    let mut head = format!("<title>{}</title>\n", escape(publisher.name));
    head.push_str(&format!("<meta name=\"description\" content=\"{}\">\n", escape(publisher.tagline)));
    head.push_str(&format!("<meta property=\"og:site_name\" content=\"{}\">\n", escape(publisher.name)));
    if let Some(url) = image {
        head.push_str(&format!("<meta property=\"og:image\" content=\"{}\">\n", escape(url)));
    }
    if publisher.style == Style::WordPress {
        head.push_str("<meta name=\"generator\" content=\"WordPress 6.8.3\">\n");
    }
    for feed in feeds {
        head.push_str(&format!(
            "<link rel=\"alternate\" type=\"{}\" title=\"{}\" href=\"{}\">\n",
            feed.media_type,
            escape(&feed.title),
            escape(&feed.url)
        ));
    }
    let list: String = posts
        .iter()
        .map(|(title, url)| format!("<li><a href=\"{}\">{}</a></li>\n", escape(url), escape(title)))
        .collect();
    let body = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<ul class=\"posts\">\n{list}</ul>\n",
        escape(publisher.name),
        escape(publisher.tagline)
    );
    document(publisher, &head, "", &body)
}

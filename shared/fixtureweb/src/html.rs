//! Page templates: five common kinds of article markup, and home pages.

use crate::publisher::{Post, Publisher, Style};
use serde_json::json;

/// Escapes text for HTML, including attribute values in double quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const CSS: &str = "body{margin:0;font:18px/1.6 Georgia,serif;color:#222;background:#faf9f6}\
header,main,footer{max-width:42rem;margin:auto;padding:1rem}header a,footer{color:#556}\
nav a{margin-right:1rem}img{max-width:100%;height:auto;border-radius:4px}\
h1{line-height:1.25}.meta{color:#667;font-size:.85em}aside{font-size:.85em;border-top:1px solid #ddd}";

/// Words of a page's template in its language.
struct PageWords {
    home: &'static str,
    about: &'static str,
    archive: &'static str,
    by: &'static str,
    more: &'static str,
    imprint: &'static str,
}

fn words(lang: &str) -> PageWords {
    let [home, about, archive, by, more, imprint] = match lang {
        "it" => {
            ["Home", "Chi siamo", "Archivio", "di", "Altri articoli", "Un sito di prova, tutti i testi sono inventati."]
        }
        "de" => {
            ["Start", "Über uns", "Archiv", "von", "Weitere Beiträge", "Eine Probeseite, alle Texte sind erfunden."]
        }
        "fr" => [
            "Accueil",
            "À propos",
            "Archives",
            "par",
            "À lire aussi",
            "Un site d’essai, tous les textes sont inventés.",
        ],
        "es" => [
            "Inicio",
            "Quiénes somos",
            "Archivo",
            "por",
            "Más artículos",
            "Un sitio de prueba, todos los textos son inventados.",
        ],
        "ja" => ["ホーム", "このサイトについて", "過去の記事", "文", "ほかの記事", "これは試験用のサイトです。"],
        _ => ["Home", "About", "Archive", "by", "More to read", "A specimen site; every text here is made up."],
    };
    PageWords { home, about, archive, by, more, imprint }
}

pub(crate) fn article(publisher: &Publisher, style: Style, post: &Post) -> String {
    let head = article_head(publisher, style, post);
    let number = 100 + post.number;
    let class = match style {
        Style::WordPress => {
            format!(" class=\"post-template-default single single-post postid-{number} wp-embed-responsive\"")
        }
        _ => String::new(),
    };
    // Attributes of the heading, the picture and the date.
    let [of_heading, of_picture, of_date] = match style {
        Style::WordPress => [
            " class=\"entry-title\"",
            " class=\"attachment-post-thumbnail wp-post-image\"",
            " class=\"entry-date published\"",
        ],
        Style::Microdata => [" itemprop=\"headline\"", " itemprop=\"image\"", " itemprop=\"datePublished\""],
        Style::JsonLd | Style::Plain | Style::OpenGraph => ["", "", ""],
    };
    let words = words(publisher.bank.lang);
    let (by, author, text, day) = (words.by, escape(&post.author), paragraphs(post), post.at.date());
    let title = post.title.as_deref().map(|title| format!("<h1{of_heading}>{}</h1>\n", escape(title)));
    let title = title.unwrap_or_default();
    let figure = |url: &String| {
        let url = escape(url);
        format!("<figure><img{of_picture} src=\"{url}\" width=\"640\" height=\"360\" alt=\"\"></figure>\n")
    };
    let figure = post.picture.as_ref().map(figure).unwrap_or_default();
    let time = format!("<time{of_date} datetime=\"{}\">{day}</time>", post.at.rfc3339());
    let article = match style {
        Style::WordPress => format!(
            "<article id=\"post-{number}\" class=\"post-{number} post type-post status-publish \
             format-standard hentry\">\n{title}<div class=\"entry-meta\">{time} <span class=\"byline\">{by} \
             <span class=\"author vcard\">{author}</span></span></div>\n\
             {figure}<div class=\"entry-content wp-block-post-content\">\n{text}</div>\n</article>\n\
             <nav class=\"post-navigation\"><a rel=\"prev\" href=\"/\">«</a></nav>\n"
        ),
        Style::Microdata => format!(
            "<article itemscope itemtype=\"https://schema.org/Article\">\n{title}<p class=\"meta\">{by} \
             <span itemprop=\"author\" itemscope itemtype=\"https://schema.org/Person\">\
             <span itemprop=\"name\">{author}</span></span>, {time}</p>\n\
             {figure}<div itemprop=\"articleBody\">\n{text}</div>\n</article>\n"
        ),
        Style::JsonLd | Style::Plain => {
            format!("<article>\n{title}<p class=\"meta\">{by} {author}, {time}</p>\n{figure}{text}</article>\n")
        }
        Style::OpenGraph => format!(
            "<div class=\"story\">\n{title}<div class=\"meta\">{by} {author} · {day}</div>\n{figure}\
             <div class=\"story-text\">\n{text}</div>\n</div>\n\
             <div class=\"share\"><a href=\"#\">+</a> <a href=\"#\">@</a></div>\n"
        ),
    };
    let (more, name) = (words.more, escape(publisher.name));
    let body = format!("{article}<aside><p>{more}: <a href=\"/\">{name}</a></p></aside>\n");
    document(publisher, &head, &class, &body)
}

fn document(publisher: &Publisher, head: &str, body_attributes: &str, body: &str) -> String {
    let lang = publisher.bank.lang;
    let PageWords { home, about, archive, imprint, .. } = words(lang);
    let name = escape(publisher.name);
    format!(
        "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         {head}<style>{CSS}</style>\n</head>\n<body{body_attributes}>\n\
         <header><a href=\"/\">{name}</a>\n<nav><a href=\"/\">{home}</a>\
         <a href=\"/about\">{about}</a><a href=\"/archive\">{archive}</a></nav></header>\n<main>\n{body}</main>\n\
         <footer><p>© 2026 {name} · {imprint}</p></footer>\n</body>\n</html>\n"
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
    // `</` must not end the script element early.
    format!("<script type=\"application/ld+json\">{}</script>\n", doc.to_string().replace("</", "<\\/"))
}

pub(crate) fn paragraphs(post: &Post) -> String {
    post.paragraphs.iter().map(|p| format!("<p>{}</p>\n", escape(p))).collect()
}

#[derive(Clone, Debug)]
pub(crate) struct FeedLink {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) media_type: &'static str,
}

/// Returns a home page with feed links in the head and a list of articles in the body.
pub(crate) fn home(
    publisher: &Publisher,
    feeds: &[FeedLink],
    image: Option<&str>,
    posts: &[(String, String)],
) -> String {
    let (name, tagline) = (escape(publisher.name), escape(publisher.tagline));
    let mut head = format!(
        "<title>{name}</title>\n<meta name=\"description\" content=\"{tagline}\">\n\
         <meta property=\"og:site_name\" content=\"{name}\">\n"
    );
    if let Some(url) = image {
        head.push_str(&format!("<meta property=\"og:image\" content=\"{}\">\n", escape(url)));
    }
    if publisher.style == Style::WordPress {
        head.push_str("<meta name=\"generator\" content=\"WordPress 6.8.3\">\n");
    }
    for FeedLink { title, url, media_type } in feeds {
        let (title, url) = (escape(title), escape(url));
        let link = format!("<link rel=\"alternate\" type=\"{media_type}\" title=\"{title}\" href=\"{url}\">\n");
        head.push_str(&link);
    }
    let item =
        |(title, url): &(String, String)| format!("<li><a href=\"{}\">{}</a></li>\n", escape(url), escape(title));
    let list: String = posts.iter().map(item).collect();
    let body = format!("<h1>{name}</h1>\n<p>{tagline}</p>\n<ul class=\"posts\">\n{list}</ul>\n");
    document(publisher, &head, "", &body)
}

//! JSON Feed 1.0 and 1.1, read so that one field of the wrong type costs that field and not the feed.

use crate::finish::{Raw, finish};
use crate::{Feed, FeedError, Format, Hints, Limits, NotAFeed, Repair, date, link};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use url::Url;

/// Reads a JSON Feed.
pub(crate) fn parse(text: &str, url: &Url, limits: &Limits) -> Result<Feed, FeedError> {
    let document: Document = serde_json::from_str(text).map_err(|e| {
        if text.contains("jsonfeed.org/version") {
            FeedError::Unreadable(e.to_string())
        } else {
            FeedError::NotAFeed(NotAFeed::NoMarkup)
        }
    })?;
    let says_so = document.version.get().is_some_and(|v| v.contains("jsonfeed.org"));
    let Some(items) =
        document.items.filter(|_| says_so || document.title.is_some() || document.home_page_url.is_some())
    else {
        return Err(FeedError::NotAFeed(NotAFeed::Other("a JSON object".to_owned())));
    };
    let mut mender = Mender { url, limits, repairs: Vec::new() };
    if document.version.get().is_none() {
        mender.repaired(Repair::FieldType);
    }
    let mut hints = Hints { self_url: mender.link(&document.feed_url), ..Hints::default() };
    hints.hub = document.hubs.0.iter().find_map(|h| link::resolve(h.url.get()?, url, limits.url_bytes));
    let author = first_author(&document.authors, &document.author);
    let mut feed = Feed {
        format: Format::Json,
        title: None,
        title_html: None,
        description: document.description.take(),
        link: mender.link(&document.home_page_url),
        language: document.language.take().map(|l| l.trim().to_ascii_lowercase()),
        image: mender.link(&document.icon).or_else(|| mender.link(&document.favicon)),
        updated: None,
        hints,
        entries: Vec::new(),
        repairs: Vec::new(),
        truncated: items.0.len() > limits.entries,
    };
    let kept = items.0.into_iter().take(limits.entries);
    let entries = kept.map(|item| mender.entry(item, author.as_deref())).collect();
    feed.repairs = mender.repairs;
    finish(&mut feed, document.title.take().map(|t| (true, t)), entries, limits);
    Ok(feed)
}

struct Mender<'a> {
    url: &'a Url,
    limits: &'a Limits,
    repairs: Vec<Repair>,
}

impl Mender<'_> {
    fn repaired(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn link(&mut self, field: &Loose) -> Option<String> {
        let link = link::resolve(field.get()?, self.url, self.limits.url_bytes);
        if link.is_none() {
            self.repaired(Repair::Link);
        }
        link
    }

    fn date(&mut self, field: &Loose) -> Option<curlew_model::Timestamp> {
        let time = date::parse(field.get()?);
        if time.is_none() {
            self.repaired(Repair::Date);
        }
        time
    }

    fn entry(&mut self, item: Item, feed_author: Option<&str>) -> Raw {
        let published = self.date(&item.date_published);
        let updated = self.date(&item.date_modified);
        let own = item.id.get().unwrap_or_default();
        let link = self.link(&item.url).or_else(|| self.link(&item.external_url));
        let author = first_author(&item.authors, &item.author).or_else(|| feed_author.map(str::to_owned));
        let (html, plain) = (item.content_html.take(), item.content_text.take());
        Raw {
            link: link
                .or_else(|| link::resolve(own, self.url, self.limits.url_bytes).filter(|_| link::is_absolute(own))),
            id: own.to_owned(),
            title: item.title.take().map(|t| (true, t)),
            published,
            updated,
            author,
            summary: item.summary.take().or_else(|| html.as_ref().and(plain.clone())),
            content: html.or(plain),
        }
    }
}

/// The first name among the authors of version 1.1, or that of version 1.0.
fn first_author(authors: &List<Author>, author: &Author) -> Option<String> {
    authors.0.iter().chain([author]).find_map(|a| a.0.clone())
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Document {
    version: Loose,
    title: Loose,
    home_page_url: Loose,
    feed_url: Loose,
    description: Loose,
    icon: Loose,
    favicon: Loose,
    language: Loose,
    author: Author,
    authors: List<Author>,
    hubs: List<Hub>,
    items: Option<List<Item>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    id: Loose,
    url: Loose,
    external_url: Loose,
    title: Loose,
    content_html: Loose,
    content_text: Loose,
    summary: Loose,
    date_published: Loose,
    date_modified: Loose,
    author: Author,
    authors: List<Author>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Hub {
    url: Loose,
}

/// A text, or a number or truth value taken as one; anything else is nothing.
#[derive(Clone, Default)]
struct Loose(Option<String>);

impl Loose {
    fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|t| !t.trim().is_empty())
    }

    fn take(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }

    fn is_some(&self) -> bool {
        self.get().is_some()
    }
}

/// An author's name: that of an object, or a text.
#[derive(Clone, Default)]
struct Author(Option<String>);

/// A list of which no more is kept than any limit allows; anything else than a list is an empty one.
struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List(Vec::new())
    }
}

/// Members of a list that are kept while reading; the limit of entries is applied after it.
const MAX_LIST: usize = 20_000;

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Loose, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Loose;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E>(self, v: &str) -> Result<Loose, E> {
                Ok(Loose(Some(v.to_owned())))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Loose, E> {
                Ok(Loose(Some(v.to_string())))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Loose, E> {
                Ok(Loose(Some(v.to_string())))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Loose, E> {
                Ok(Loose(Some(v.to_string())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
                Ok(Loose(None))
            }
            fn visit_unit<E>(self) -> Result<Loose, E> {
                Ok(Loose(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
        }
        d.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Author {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Author, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Author;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an author")
            }
            fn visit_str<E>(self, v: &str) -> Result<Author, E> {
                Ok(Author(Some(v.to_owned()).filter(|n| !n.trim().is_empty())))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Author, E> {
                Ok(Author(None))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Author, E> {
                Ok(Author(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Author, E> {
                Ok(Author(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Author, E> {
                Ok(Author(None))
            }
            fn visit_unit<E>(self) -> Result<Author, E> {
                Ok(Author(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Author, A::Error> {
                let first = seq.next_element::<Author>()?;
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(first.unwrap_or_default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Author, A::Error> {
                let mut name = Loose(None);
                while let Some(key) = map.next_key::<String>()? {
                    if key == "name" {
                        name = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Author(name.take()))
            }
        }
        d.deserialize_any(Any)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<List<T>, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Any<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while list.len() < MAX_LIST {
                    match seq.next_element::<OrElse<T>>()? {
                        Some(OrElse(member)) => list.extend(member),
                        None => return Ok(List(list)),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(List(list))
            }
            fn visit_str<E>(self, _: &str) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_i64<E>(self, _: i64) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_u64<E>(self, _: u64) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_f64<E>(self, _: f64) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_bool<E>(self, _: bool) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_unit<E>(self) -> Result<List<T>, E> {
                Ok(List(Vec::new()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(List(Vec::new()))
            }
        }
        d.deserialize_any(Any(PhantomData))
    }
}

/// A member of a list, or nothing where it has another form.
struct OrElse<T>(Option<T>);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for OrElse<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<OrElse<T>, D::Error> {
        T::deserialize(d).map(|member| OrElse(Some(member)))
    }
}

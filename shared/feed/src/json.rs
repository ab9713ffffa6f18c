//! Parses JSON Feed 1.0 and 1.1. A field of the wrong type is ignored, without loss of the feed.

use crate::draft::{MAX_TAGS, RawEntry, keep_newest};
use crate::{
    Feed, FeedError, Format, Hints, Limits, NotAFeed, Repair, finish::finish, link, paging::Paging, text, work::Work,
};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::{fmt, marker::PhantomData};
use url::Url;

pub(crate) fn parse(text: &str, url: &Url, limits: &Limits, work: &Work) -> Result<Feed, FeedError> {
    work.add(text.len());
    let read = |text: &str| Document::deserialize(&mut serde_json::Deserializer::from_str(text));
    let mut is_mended = false;
    let document = read(text).or_else(|error| {
        let mended = mended(text, work).ok_or(error)?;
        is_mended = true;
        read(&mended)
    });
    let document = document.map_err(|e| match text.contains("jsonfeed.org/version") {
        true => FeedError::unreadable(&e.to_string()),
        false => FeedError::NotAFeed(NotAFeed::NoMarkup),
    })?;
    let says_so = document.version.get().is_some_and(|v| v.contains("jsonfeed.org"));
    let Some(items) =
        document.items.filter(|_| says_so || document.title.get().is_some() || document.home_page_url.get().is_some())
    else {
        return Err(FeedError::NotAFeed(NotAFeed::Other("a JSON object".to_owned())));
    };
    let language = document.language.take();
    let mut mender = JsonMender { url, limits, repairs: Vec::new(), language: language.as_deref() };
    let odd = [&document.title, &document.language, &document.description].iter().any(|f| f.odd)
        || items.0.iter().any(|item| item.0.is_none());
    let items: Vec<Item> = items.0.into_iter().filter_map(|item| item.0).collect();
    if document.version.get().is_none() || odd {
        Repair::FieldType.note_in(&mut mender.repairs);
    }
    if is_mended {
        Repair::BareMarkup.note_in(&mut mender.repairs);
    }
    // Other types of hubs, such as rssCloud, use other protocols.
    let web_sub = |hub: &&Hub| hub.kind.get().is_none_or(|kind| kind.trim().eq_ignore_ascii_case("websub"));
    let mut hubs = document.hubs.0.iter().filter_map(|hub| hub.0.as_ref()).filter(web_sub);
    let hub = hubs.find_map(|hub| link::resolve(hub.url.get()?, url, limits.url_bytes));
    let hints = Hints { self_url: mender.link(&document.feed_url), hub, ..Hints::default() };
    let author = first_author(&document.authors, &document.author);
    let mut feed = Feed {
        format: Format::Json,
        description: document.description.take(),
        link: mender.link(&document.home_page_url),
        language: language.as_ref().map(|l| l.trim().to_ascii_lowercase()),
        image: mender.link(&document.icon).or_else(|| mender.link(&document.favicon)),
        hints,
        paging: Paging { next: mender.link(&document.next_url), ..Paging::default() },
        ..Feed::default()
    };
    let mut entries = items.into_iter().map(|item| mender.entry(item, author.as_deref())).collect();
    feed.truncated = keep_newest(&mut entries, limits.entries);
    feed.repairs = mender.repairs;
    finish(&mut feed, document.title.take().map(|t| (false, t)), entries, limits, work);
    Ok(feed)
}

/// Returns the document with control characters escaped and trailing commas removed; `None` if it had neither.
fn mended(text: &str, work: &Work) -> Option<String> {
    work.add(text.len());
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped, mut is_mended) = (false, false, false);
    for c in text.chars() {
        match c {
            '"' if !is_escaped => in_string = !in_string,
            '}' | ']' if !in_string && out.trim_end().ends_with(',') => {
                out.truncate(out.trim_end().len() - 1);
                is_mended = true;
            }
            '\0'..='\u{1f}' if in_string => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
                (is_escaped, is_mended) = (false, true);
                continue;
            }
            _ => {}
        }
        is_escaped = in_string && c == '\\' && !is_escaped;
        out.push(c);
    }
    is_mended.then_some(out)
}

struct JsonMender<'a> {
    url: &'a Url,
    limits: &'a Limits,
    repairs: Vec<Repair>,
    /// Language tag of the feed.
    language: Option<&'a str>,
}

impl JsonMender<'_> {
    fn link(&mut self, field: &LooseText) -> Option<String> {
        let link = link::resolve(field.get()?, self.url, self.limits.url_bytes);
        if link.is_none() {
            Repair::Link.note_in(&mut self.repairs);
        }
        link
    }

    fn date(&mut self, field: &LooseText) -> Option<curlew_model::Timestamp> {
        let time = text::date(field.get()?, self.language);
        if time.is_none() {
            Repair::Date.note_in(&mut self.repairs);
        }
        time
    }

    fn entry(&mut self, item: Item, feed_author: Option<&str>) -> RawEntry {
        let published = self.date(&item.date_published);
        let updated = self.date(&item.date_modified);
        let fields = [&item.id, &item.title, &item.url, &item.summary, &item.content_html, &item.content_text];
        if fields.iter().any(|field| field.odd) {
            Repair::FieldType.note_in(&mut self.repairs);
        }
        let own = item.id.get().unwrap_or_default();
        let link = self.link(&item.url).or_else(|| self.link(&item.external_url));
        let author = first_author(&item.authors, &item.author).or_else(|| feed_author.map(str::to_owned));
        let (html, plain) = (item.content_html.take(), item.content_text.take());
        RawEntry {
            link: link
                .or_else(|| link::resolve(own, self.url, self.limits.url_bytes).filter(|_| link::is_absolute(own))),
            id: own.to_owned(),
            title: item.title.take().map(|t| (false, t)),
            published,
            updated,
            author,
            summary: item.summary.take().or_else(|| html.as_ref().and(plain.clone())),
            content: html.or(plain),
            tags: item.tags.0.iter().filter_map(LooseText::take).take(MAX_TAGS).collect(),
        }
    }
}

fn first_author(authors: &List<Author>, author: &Author) -> Option<String> {
    authors.0.iter().chain([author]).find_map(|a| a.0.clone())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    version: LooseText,
    title: LooseText,
    home_page_url: LooseText,
    feed_url: LooseText,
    next_url: LooseText,
    description: LooseText,
    icon: LooseText,
    favicon: LooseText,
    language: LooseText,
    author: Author,
    authors: List<Author>,
    hubs: List<Object<Hub>>,
    items: Option<List<Object<Item>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    id: LooseText,
    url: LooseText,
    external_url: LooseText,
    title: LooseText,
    content_html: LooseText,
    content_text: LooseText,
    summary: LooseText,
    date_published: LooseText,
    date_modified: LooseText,
    author: Author,
    authors: List<Author>,
    tags: List<LooseText>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Hub {
    #[serde(rename = "type")]
    kind: LooseText,
    url: LooseText,
}

/// A string, or a number converted to one. Any other value is ignored.
#[derive(Default)]
struct LooseText {
    text: Option<String>,
    /// True if the value was neither a string nor `null`.
    odd: bool,
}

impl LooseText {
    fn get(&self) -> Option<&str> {
        self.text.as_deref().filter(|t| !t.trim().is_empty())
    }

    fn take(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }
}

/// Element of a list that should be an object; `None` if it is not.
#[derive(Default)]
struct Object<T>(Option<T>);

/// Name of an author, from an object, the first element of a list, or a string.
#[derive(Default)]
struct Author(Option<String>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: LooseText,
}

/// A list, truncated to [`MAX_LIST`]. An object is treated as a list of one, any other value as an empty list.
#[derive(Default)]
struct List<T>(Vec<T>);

/// Maximum number of list elements kept during parsing, before the limit on entries applies.
const MAX_LIST: usize = 20_000;

impl<'de> Deserialize<'de> for LooseText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LooseText, D::Error> {
        // A list where a string is expected uses no memory, whatever its length.
        Ok(match d.deserialize_any(LooseVisitor::<IgnoredAny, IgnoredAny>(PhantomData))? {
            LooseValue::Text(text) => LooseText { text: Some(text), odd: false },
            LooseValue::Number(text) => LooseText { text: Some(text), odd: true },
            LooseValue::Nothing => LooseText::default(),
            LooseValue::Other | LooseValue::List(_) | LooseValue::Object(_) => LooseText { text: None, odd: true },
        })
    }
}

impl<'de> Deserialize<'de> for Author {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Author, D::Error> {
        Ok(match d.deserialize_any(LooseVisitor::<Named, Author>(PhantomData))? {
            LooseValue::Text(name) => Author(Some(name).filter(|n| !n.trim().is_empty())),
            LooseValue::Object(Named { name }) => Author(name.take()),
            LooseValue::List(authors) => authors.into_iter().next().unwrap_or_default(),
            LooseValue::Number(_) | LooseValue::Nothing | LooseValue::Other => Author(None),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<List<T>, D::Error> {
        Ok(match d.deserialize_any(LooseVisitor::<T, T>(PhantomData))? {
            LooseValue::List(members) => List(members),
            LooseValue::Object(only) => List(vec![only]),
            _ => List(Vec::new()),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Object<T>, D::Error> {
        Ok(match d.deserialize_any(LooseVisitor::<T, IgnoredAny>(PhantomData))? {
            LooseValue::Object(object) => Object(Some(object)),
            _ => Object(None),
        })
    }
}

/// Any JSON value: an object of type `O`, a list of elements of type `M`, or a scalar.
enum LooseValue<O, M> {
    Text(String),
    Number(String),
    List(Vec<M>),
    Object(O),
    Nothing,
    Other,
}

struct LooseVisitor<O, M>(PhantomData<(O, M)>);

impl<'de, O: Deserialize<'de>, M: Deserialize<'de>> Visitor<'de> for LooseVisitor<O, M> {
    type Value = LooseValue<O, M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, v: &str) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Text(v.to_owned()))
    }

    fn visit_i64<E>(self, v: i64) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Number(v.to_string()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Number(v.to_string()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Number(v.to_string()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Other)
    }

    fn visit_unit<E>(self) -> Result<LooseValue<O, M>, E> {
        Ok(LooseValue::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<LooseValue<O, M>, A::Error> {
        let mut list = Vec::new();
        while list.len() < MAX_LIST {
            match seq.next_element()? {
                Some(member) => list.push(member),
                None => return Ok(LooseValue::List(list)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(LooseValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LooseValue<O, M>, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(LooseValue::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Feed, FeedError> {
        parse(text, &"https://example.org/feed.json".parse().expect("a URL"), &Limits::default(), &Work::default())
    }

    #[test]
    fn a_field_of_the_wrong_type_costs_that_field() {
        let text = r#"{"title": "T", "author": "Bo", "language": 5, "items": [
            {"id": 1.5, "title": {"a": []}, "url": "https://example.org/1", "authors": "Kim"},
            {"id": "2", "title": null, "content_text": "t", "author": {"name": "Lee", "url": 3}, "attachments": [{"size_in_bytes": "9"}]}
        ]} trailing"#;
        let feed = read(text).expect("a feed");
        let said: Vec<_> =
            feed.entries.iter().map(|e| (e.id.as_str(), e.title.as_deref(), e.author.as_deref())).collect();
        assert_eq!(said, [("1.5", None, Some("Bo")), ("2", None, Some("Lee"))]);
        assert!(feed.repairs.contains(&Repair::FieldType));
    }

    #[test]
    fn an_item_that_is_no_object_costs_that_item() {
        let text = r#"{"version": "https://jsonfeed.org/version/1.1", "hubs": ["hub", {"url": "https://hub.example/"}],
            "items": [5, "text", null, true, ["1"], {"id": "1", "content_text": "t"}, {"id": "2", "title": "Two"}]}"#;
        let feed = read(text).expect("a feed");
        assert_eq!(feed.entries.iter().map(|e| e.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(feed.hints.hub.as_deref(), Some("https://hub.example/"));
        assert!(feed.repairs.contains(&Repair::FieldType) && !feed.truncated);
        let order = read(&text.replace("[5,", "[")).expect("a feed");
        assert_eq!(order.entries, feed.entries);
    }

    #[test]
    fn json_that_is_no_feed_is_told_from_a_broken_feed() {
        assert!(matches!(read("{\"items\": []}"), Err(FeedError::NotAFeed(NotAFeed::Other(_)))));
        assert!(matches!(read("[1, 2]"), Err(FeedError::NotAFeed(_))));
        let cut = "{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{";
        assert!(matches!(read(cut), Err(FeedError::Unreadable(_))));
    }
}

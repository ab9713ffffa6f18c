//! Small pages that fill splits.

use curlew_model::{PageId, Record, SnippetLimit, Timestamp, hex};
use curlew_search::{BuildBudget, Split, SplitBuilt, build_split};

/// Builder of a page's record.
#[derive(Clone)]
pub(crate) struct Page(Record);

/// Returns an id made from a short name.
pub(crate) fn id(name: &str) -> PageId {
    PageId::new(&format!("{:0>32}", hex(name.as_bytes()))).unwrap()
}

fn instant(day: &str) -> Timestamp {
    Timestamp::parse_day_or_instant(day).unwrap()
}

impl Page {
    pub(crate) fn new(name: &str, language: &str, title: &str, text: &str) -> Page {
        Page(Record {
            host: "example.org".into(),
            site_name: Some("Il sito".into()),
            title: title.into(),
            text: text.into(),
            language: Some(language.to_owned()).filter(|language| !language.is_empty()),
            ..Record::new(id(name), format!("https://example.org/{name}"), instant("2026-11-01"))
        })
    }

    pub(crate) fn it(name: &str, title: &str, text: &str) -> Page {
        Page::new(name, "it", title, text)
    }

    pub(crate) fn en(name: &str, title: &str, text: &str) -> Page {
        Page::new(name, "en", title, text)
    }

    pub(crate) fn host(mut self, host: &str) -> Page {
        self.0.url = self.0.url.replacen(&self.0.host, host, 1);
        self.0.host = host.into();
        self
    }

    pub(crate) fn day(mut self, day: &str) -> Page {
        self.0.published = Some(instant(day));
        self
    }

    pub(crate) fn fetched(mut self, day: &str) -> Page {
        self.0.fetched_at = instant(day);
        self
    }

    pub(crate) fn until(mut self, day: &str) -> Page {
        self.0.unavailable_after = Some(instant(day));
        self
    }

    pub(crate) fn author(mut self, name: &str) -> Page {
        self.0.author = Some(name.into());
        self
    }

    pub(crate) fn print(mut self, print: u64) -> Page {
        self.0.simhash = Some(curlew_model::Fingerprint(print));
        self
    }

    pub(crate) fn snippet(mut self, limit: SnippetLimit) -> Page {
        self.0.snippet_limit = limit;
        self
    }

    pub(crate) fn record(&self) -> Record {
        self.0.clone()
    }

    /// Returns pages of two languages whose words and lengths differ in a fixed way.
    pub(crate) fn many(count: usize) -> Vec<Page> {
        const WORDS: [&str; 8] = ["pane", "olio", "nuovo", "burro", "articoli", "running", "luna", "vento"];
        let page = |number: usize| {
            let words =
                (0..5 + number * 7 % 40).map(|step| WORDS[(number * 31 + step * (1 + number % 5)) % WORDS.len()]);
            let text = words.collect::<Vec<_>>().join(" ");
            let title = format!("{} {}", WORDS[number % 3], WORDS[number * 5 % 8]);
            let language = if number.is_multiple_of(3) { "en" } else { "it" };
            let day = format!("2026-{:02}-{:02}", 1 + number % 10, 1 + number % 28);
            Page::new(&format!("p{number}"), language, &title, &text).day(&day)
        };
        (0..count).map(page).collect()
    }
}

pub(crate) fn split(pages: &[Page]) -> Split {
    splits(pages, 1).remove(0)
}

/// Returns `count` splits of about the same number of pages.
pub(crate) fn splits(pages: &[Page], count: usize) -> Vec<Split> {
    let open = |pages: &[Page]| {
        let built = built(pages);
        assert!(built.bytes.len() > 1000 && built.docs <= pages.len() as u64);
        Split::open(built.bytes.into()).unwrap()
    };
    pages.chunks(pages.len().div_ceil(count)).map(open).collect()
}

pub(crate) fn built(pages: &[Page]) -> SplitBuilt {
    build_split(pages.iter().map(Page::record), &BuildBudget::default()).unwrap()
}

//! Pages that were found.

use crate::analyze::Analyzers;
use crate::listing::Group;
use crate::plan::Plan;
use crate::rank::Candidate;
use crate::schema;
use crate::snippet::{Snippet, snippet};
use curlew_model::{PageId, Record, ThumbnailId, Timestamp};
use serde::Serialize;

/// A page that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Id of the page.
    pub id: PageId,
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Part of the text that shows why it was found.
    pub snippet: Snippet,
    /// The URL of its main image.
    pub image: Option<String>,
    /// Thumbnail of that image.
    pub thumbnail: Option<ThumbnailId>,
    /// Name of its site, or else its host.
    pub site: String,
    /// Host of the page.
    pub host: String,
    /// Name of the page's author.
    pub author: Option<String>,
    /// Tags that its feed gave it (categories).
    pub tags: Vec<String>,
    /// The feed that named it.
    pub feed: Option<String>,
    /// Publication date that the page states.
    pub published: Option<Timestamp>,
    /// The date by which it is filtered and sorted.
    pub date: Timestamp,
    /// Language of the page.
    pub language: Option<String>,
    /// Score of the hit; comparable within one answer only.
    pub score: f32,
    /// True if it has all words.
    pub has_all: bool,
    /// Words of the query that it does not have, as typed, without stop words and words that have a stand-in.
    pub missing: Vec<String>,
    /// Number of matching later copies that are not returned; the earliest copy is.
    pub copies: u32,
    /// Explanation of the score, if requested.
    pub explanation: Option<Explanation>,
    /// The whole record, if requested.
    pub record: Option<Box<Record>>,
}

/// Explanation of a score, which is the sum of the words' shares times the factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Words, phrases, pairs of characters and stand-ins (`like WORD`) that are scored, with the share of each (BM25).
    pub words: Vec<(String, f32)>,
    /// Factor for words that are near each other.
    pub proximity: f32,
    /// Factor for new pages.
    pub freshness: f32,
    /// Factor for pages that have all words.
    pub completeness: f32,
}

/// Returns the hit of a group by the record of its page, one of `many` that are shown together.
pub(crate) fn hit(record: Record, group: &Group, many: usize, plan: &Plan, analyzers: &mut Analyzers) -> Hit {
    let Candidate { has, has_all, score, .. } = group.best;
    let missing = plan.lacked(group.best.language, has).filter(|word| !plan.has_stand_in(word, has));
    let language = schema::primary_language(record.language.as_deref());
    Hit {
        date: record.date(),
        snippet: snippet(
            &record.text,
            many,
            record.snippet_limit,
            &plan.marked(&language),
            analyzers.for_language(&language),
        ),
        site: record.site_name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| record.host.clone()),
        id: record.id,
        url: record.url,
        title: record.title,
        image: record.image,
        thumbnail: record.thumbnail,
        host: record.host,
        author: record.author,
        tags: record.tags,
        feed: record.feed,
        published: record.published,
        language: record.language,
        score: score.value(),
        has_all,
        missing: missing.map(|word| word.text.clone()).collect(),
        copies: group.size - 1,
        explanation: None,
        record: None,
    }
}

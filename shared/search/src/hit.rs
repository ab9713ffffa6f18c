//! Pages that were found.

use crate::analyze::Analyzers;
use crate::listing::Group;
use crate::plan::Plan;
use crate::rank::Candidate;
use crate::schema;
use crate::snippet::{Snippet, snippet};
use curlew_model::{PageId, Record, ThumbnailId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// A result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct SearchHit {
    /// Id of the page; every hit that a search returns has one.
    #[serde(skip)]
    pub id: Option<PageId>,
    /// The page's URL.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// An excerpt of its text, plain.
    pub snippet: String,
    /// Byte ranges of the snippet that match the query.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
    /// The main image's URL.
    #[schemars(extend("format" = "uri"))]
    pub image: Option<String>,
    /// The thumbnail, if one was made.
    #[serde(skip)]
    pub thumbnail: Option<ThumbnailId>,
    /// The site's name.
    pub site: String,
    /// Host of the page.
    #[serde(skip)]
    pub host: String,
    /// The author's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The categories that the feed gave it, as its author wrote them; `tag:` finds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// URL of the feed that named the page.
    #[serde(skip)]
    pub feed: Option<String>,
    /// Time of publication.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub published: Option<Timestamp>,
    /// The date by which it is filtered and sorted ([`Record::date`]).
    #[serde(skip)]
    pub date: Timestamp,
    /// False if it lacks words of the query; programs see this field only then.
    #[serde(skip_serializing_if = "is_true")]
    pub all_words: bool,
    /// Words of the query that the page lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Explanation of its score, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub explanation: Option<Explanation>,
    /// Language of the page, as the page declares it.
    #[serde(skip)]
    pub language: Option<String>,
    /// Relevance score; comparable only within one answer.
    pub score: f32,
    /// Number of later pages with the same content, which are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u32,
    /// The whole record, if requested.
    #[serde(skip)]
    pub record: Option<Box<Record>>,
}

fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Explanation of a score, which is the sum of the words' shares times the factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Words, phrases, pairs of characters and stand-ins (`like WORD`) that are scored, each with its share (BM25).
    pub words: Vec<(String, f32)>,
    /// Factor for words that are near each other.
    pub proximity: f32,
    /// Factor for new pages.
    pub freshness: f32,
    /// Factor for pages that have all words.
    pub completeness: f32,
}

/// Returns the hit of a group by the record of its page, one of `many` that are shown together.
pub(crate) fn hit(record: Record, group: &Group, many: usize, plan: &Plan, analyzers: &mut Analyzers) -> SearchHit {
    let Candidate { has, has_all, score, .. } = group.best;
    let missing = plan.lacked(group.best.language, has).filter(|word| !plan.has_stand_in(word, has));
    let language = schema::primary_language(record.language.as_deref());
    let (marked, analyzer) = (plan.marked(&language), analyzers.for_language(&language));
    let Snippet { text, marks } = snippet(&record.text, many, record.snippet_limit, &marked, analyzer);
    SearchHit {
        date: record.date(),
        id: Some(record.id),
        snippet: text,
        marks,
        site: record.site_name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| record.host.clone()),
        url: record.url,
        title: record.title,
        image: record.image,
        thumbnail: record.thumbnail,
        host: record.host,
        author: record.author,
        categories: record.tags,
        feed: record.feed,
        published: record.published,
        language: record.language,
        score: score.value(),
        all_words: has_all,
        missing: missing.map(|word| word.text.clone()).collect(),
        copies: group.size - 1,
        explanation: None,
        record: None,
    }
}

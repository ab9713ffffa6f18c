//! The query language: words, `"a phrase"`, `+word`, `-word`, `begin*`, `title:WORD`, `author:NAME`, `site:HOST`,
//! `tag:LABEL`, `in:FOLDER`, `lang:it`, `before:2026-05-01`, `after:…`, `sort:date`.

mod part;

use crate::pieces::has_words;
use crate::schema::{folder_label, head, tag_label};
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, PageId, QueryError, Timestamp};
use part::{NOT, QueryPart, is_space, pieces};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

/// Maximum number of typed characters that a message repeats.
const MAX_SHOWN_CHARS: usize = 60;

/// Minimum length of the beginning of a word that is looked for, in characters: shorter ones begin too many words.
const MIN_BEGINNING: usize = 3;
/// Sign after the beginning of a word.
pub(crate) const BEGINNING: char = '*';

/// Minimum length in letters of a name that is taken for the name of a filter.
const MIN_FILTER_NAME: usize = 2;

/// A parsed query.
///
/// Words are looked up in the title, the text and the author's name. A phrase, and a word after a `+`, is required. Of
/// several `author:`, `site:` or `lang:` one has to match; of `title:`, `tag:` and `in:` each. The value of an operator
/// may be quoted, as in `author:"Anna Rossi"`. A day is taken in UTC: `after:` includes it, `before:` ends at its
/// beginning. A `-` before a word, phrase, `title:`, `author:`, `site:`, `tag:`, `in:` or `lang:` excludes matching pages,
/// and so does a `NOT` between other parts. Anything that is not an operator is a word: `12:30` is searched as a phrase
/// of two numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Words and phrases that a page should have, or must have.
    pub wanted: Vec<Clause>,
    /// Words and phrases that a page must not have.
    pub unwanted: Vec<Clause>,
    /// Words and phrases that the title must have, each of them.
    pub titles: BTreeSet<String>,
    /// Words and phrases that the title must not have.
    pub not_titles: BTreeSet<String>,
    /// Labels that a page must have, each of them: tags, and folders of its feed.
    pub labels: BTreeSet<String>,
    /// Labels that a page must not have.
    pub not_labels: BTreeSet<String>,
    /// Pages of which it is one.
    pub pages: BTreeSet<PageId>,
    /// Author names: all words of one of them must be adjacent in the author's name.
    pub authors: BTreeSet<String>,
    /// Author names that are excluded.
    pub not_authors: BTreeSet<String>,
    /// Hosts in lower-case A-label form; their subdomains match too.
    pub sites: BTreeSet<String>,
    /// Hosts that are excluded.
    pub not_sites: BTreeSet<String>,
    /// Primary language subtags.
    pub languages: BTreeSet<String>,
    /// Languages that are excluded.
    pub not_languages: BTreeSet<String>,
    /// Upper bound of the date, exclusive.
    pub before: Option<Timestamp>,
    /// Lower bound of the date, inclusive.
    pub after: Option<Timestamp>,
    /// The order of the results.
    pub sort: Sort,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// Text as typed, without quotation marks.
    pub text: String,
    /// True if a page must have it: a phrase, or a word after a `+`.
    pub must: bool,
    /// Position in the typed text, in bytes.
    pub at: Range<usize>,
}

/// The order of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sort {
    /// The best match first.
    #[default]
    Relevance,
    /// The newest first.
    Date,
}

impl Query {
    /// Parses a person's input; fails if any part of it is not understood.
    ///
    /// # Errors
    /// If it is too long, searches for nothing, or has an operator whose value cannot be read.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let (query, left_out) = Query::read(text);
        left_out.into_iter().next().map_or(Ok(query), Err)
    }

    /// Parses a person's input as far as it is understood. Returns the query, and the reasons why parts were left out.
    /// If the query [is empty](Query::is_empty), nothing was understood, and there is at least one reason.
    pub fn read(text: &str) -> (Query, Vec<QueryError>) {
        let mut reading = QueryReader::default();
        let kept = head(text, MAX_QUERY_BYTES);
        if kept.len() < text.len() {
            reading.left_out.push(QueryError::TooLong { bytes: text.len() });
        }
        let cut_short = kept.len() < text.len() && !text[kept.len()..].starts_with(is_space);
        // The last word was cut in two, and half a word would match something else.
        let kept = kept.rfind(is_space).filter(|_| cut_short).map_or(kept, |end| &kept[..end]);
        let mut pieces = pieces(kept).peekable();
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_some() && reading.take_boolean(&piece) {
                continue;
            }
            if !reading.take(&piece) {
                reading.left_out.push(QueryError::TooManyTerms);
                break;
            }
        }
        reading.end()
    }

    /// True if there is nothing to search for. "The newest of all pages" is a valid query; "the best of all pages" is
    /// not.
    pub fn is_empty(&self) -> bool {
        let filters = [&self.titles, &self.labels, &self.authors, &self.sites, &self.languages];
        let filtered = !self.pages.is_empty() || filters.iter().any(|filter| !filter.is_empty());
        let is_dated = self.before.is_some() || self.after.is_some() || self.sort == Sort::Date;
        self.wanted.is_empty() && !filtered && !is_dated
    }
}

/// State of parsing a query.
#[derive(Default)]
struct QueryReader {
    query: Query,
    terms: usize,
    left_out: Vec<QueryError>,
    /// True if the input has a part without letters and digits.
    has_signs: bool,
    /// True after a `NOT`.
    excludes_next: bool,
}

impl QueryReader {
    /// Takes `AND`, `OR` or `NOT`, if it has something before it; returns false if it is a word.
    fn take_boolean(&mut self, piece: &QueryPart<'_>) -> bool {
        // An order has no place in the query: it is put in front of one that has none.
        let is_boolean = piece.is_boolean() && self.unsorted() != Query::default();
        if is_boolean {
            let is_not = piece.text == NOT;
            self.excludes_next |= is_not;
            let why = if is_not { QueryError::Not } else { QueryError::Boolean(piece.text.to_owned()) };
            if !self.left_out.contains(&why) {
                self.left_out.push(why);
            }
        }
        is_boolean
    }

    fn unsorted(&self) -> Query {
        Query { sort: Sort::Relevance, ..self.query.clone() }
    }

    /// Adds a part, or records why not; returns false if it did not fit completely.
    fn take(&mut self, piece: &QueryPart<'_>) -> bool {
        let room = MAX_QUERY_TERMS - self.terms;
        if room == 0 {
            return false;
        }
        let (text, fits) = piece.head(room);
        self.terms += if piece.quoted { text.split_whitespace().count() } else { 1 };
        let negated = piece.negated || std::mem::take(&mut self.excludes_next);
        let piece = QueryPart { text, negated, ..*piece };
        if let Err(why) = self.take_whole(&piece) {
            self.left_out.push(why);
        }
        fits
    }

    fn take_whole(&mut self, piece: &QueryPart<'_>) -> Result<(), QueryError> {
        let query = &mut self.query;
        let operator = match piece.operator {
            Some(name) => Some((name, piece.text)),
            None if piece.quoted => None,
            None => piece.text.split_once(':'),
        };
        let operator = operator.map(|(name, value)| (name.to_ascii_lowercase(), value));
        match operator.as_ref().map(|(name, value)| (name.as_str(), *value)) {
            Some(("title", value)) => {
                let titles = if piece.negated { &mut query.not_titles } else { &mut query.titles };
                titles.insert(title(value)?);
            }
            Some((kind @ ("tag" | "in"), value)) => {
                let labels = if piece.negated { &mut query.not_labels } else { &mut query.labels };
                let label = if kind == "tag" { tag_label(value) } else { folder_label(value) };
                labels.insert(label.ok_or_else(|| QueryError::Label(kind.to_owned()))?);
            }
            Some(("author", value)) => {
                let authors = if piece.negated { &mut query.not_authors } else { &mut query.authors };
                authors.insert(author(value)?);
            }
            Some(("site", value)) => {
                let sites = if piece.negated { &mut query.not_sites } else { &mut query.sites };
                sites.insert(host(value)?);
            }
            Some(("lang", value)) => {
                let languages = if piece.negated { &mut query.not_languages } else { &mut query.languages };
                languages.insert(language(value)?);
            }
            Some(("before", value)) => query.before = Some(earlier(query.before, day(value)?)),
            Some(("after", value)) => query.after = query.after.max(Some(day(value)?)),
            Some(("sort", value)) => query.sort = value.parse()?,
            _ if !piece.quoted && piece.text.contains(BEGINNING) && !is_beginning(piece.text) => {
                return Err(QueryError::Wildcard(shown(piece.text)));
            }
            Some((name, value)) if looks_like_filter(name, value) => {
                self.left_out.push(QueryError::Filter(shown(name)));
                self.take_words(&QueryPart { text: &piece.text[..name.len()], ..*piece });
                let at = piece.at + piece.text.len() - value.len();
                self.take_words(&QueryPart { text: value, at, ..*piece });
            }
            _ => self.take_words(piece),
        }
        Ok(())
    }

    fn take_words(&mut self, piece: &QueryPart<'_>) {
        // A part without letters, digits and emoji cannot be found, so it is not searched for.
        if has_words(piece.text) {
            let clauses = if piece.negated { &mut self.query.unwanted } else { &mut self.query.wanted };
            let text = if piece.quoted { piece.text.trim_end_matches(BEGINNING) } else { piece.text };
            let at = piece.at..piece.at + text.len();
            clauses.push(Clause { text: text.to_owned(), must: piece.quoted || piece.is_strict, at });
        } else {
            self.has_signs = true;
        }
    }

    fn end(mut self) -> (Query, Vec<QueryError>) {
        // Signs alone are nothing to search for, and do not mean "all pages" either.
        let unsorted = self.unsorted();
        if self.has_signs && unsorted.is_empty() {
            self.query = unsorted;
        }
        let query = &self.query;
        if query.is_empty() {
            let filtered = [&query.not_titles, &query.not_labels, &query.not_authors, &query.not_sites];
            let filtered = filtered.into_iter().chain([&query.not_languages]);
            let excluded = !query.unwanted.is_empty() || filtered.into_iter().any(|left_out| !left_out.is_empty());
            self.left_out.push(if excluded { QueryError::OnlyExcluded } else { QueryError::Empty });
        } else if query.after.zip(query.before).is_some_and(|(after, before)| after >= before) {
            self.left_out.push(QueryError::NoDays);
        }
        (self.query, self.left_out)
    }
}

/// True if the input looks like a filter that does not exist: `inurl:tide`, but neither `12:30` nor an address.
fn looks_like_filter(name: &str, value: &str) -> bool {
    let is_word = name.len() >= MIN_FILTER_NAME && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word && value.starts_with(char::is_alphanumeric)
}

/// True for the beginning of a word, such as `tid*`, that is long enough.
fn is_beginning(text: &str) -> bool {
    let begin = text.strip_suffix(BEGINNING).unwrap_or_default();
    begin.chars().count() >= MIN_BEGINNING && begin.chars().all(char::is_alphanumeric)
}

/// Returns typed text as it may appear in a message.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect();
    if shown.chars().count() < text.chars().count() {
        shown.push('…');
    }
    shown
}

impl FromStr for Sort {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Sort, QueryError> {
        match text.to_ascii_lowercase().as_str() {
            "date" => Ok(Sort::Date),
            "relevance" => Ok(Sort::Relevance),
            _ => Err(QueryError::Order(shown(text))),
        }
    }
}

/// Parses the words of `title:`.
fn title(text: &str) -> Result<String, QueryError> {
    if has_words(text) { Ok(text.trim().to_owned()) } else { Err(QueryError::Title(shown(text))) }
}

/// Parses the name of `author:`, which must contain a letter or a digit.
fn author(text: &str) -> Result<String, QueryError> {
    let name = text.trim();
    if name.chars().any(char::is_alphanumeric) { Ok(name.to_owned()) } else { Err(QueryError::Author(shown(text))) }
}

/// Parses the host of `site:`, also from a pasted URL.
fn host(text: &str) -> Result<String, QueryError> {
    let wrong = || QueryError::Site(shown(text));
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let name = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let name = name.trim_start_matches("*.").trim_matches('.');
    let without_port = name.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = if name.starts_with('[') { name } else { without_port.map_or(name, |(name, _)| name) };
    let host = url::Host::parse(name).map_err(|_| wrong())?.to_string();
    if host.is_empty() || host.contains('*') { Err(wrong()) } else { Ok(host) }
}

fn language(text: &str) -> Result<String, QueryError> {
    let language = crate::schema::primary_language(Some(text));
    if language.is_empty() { Err(QueryError::Language(shown(text))) } else { Ok(language) }
}

fn day(text: &str) -> Result<Timestamp, QueryError> {
    Timestamp::parse_day_or_instant(text).map_err(|_| QueryError::Date(shown(text)))
}

fn earlier(one: Option<Timestamp>, two: Timestamp) -> Timestamp {
    one.map_or(two, |one| one.min(two))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use proptest::prelude::*;

    fn texts(clauses: &[Clause]) -> Vec<&str> {
        clauses.iter().map(|c| c.text.as_str()).collect()
    }

    #[test]
    fn all_of_the_language_is_read() {
        let query = Query::parse(
            "pane \"olio nuovo\" -burro -\"due parole\" site:Example.ORG -site:https://blog.example.org/x \
             lang:it before:2026-05-01 after:2026-04-01 sort:date 12:30",
        );
        let query = query.unwrap();
        assert_eq!(texts(&query.wanted), ["pane", "olio nuovo", "12:30"]);
        assert_eq!(texts(&query.unwanted), ["burro", "due parole"]);
        assert_eq!(query.sites, ["example.org".to_owned()].into());
        assert_eq!(query.not_sites, ["blog.example.org".to_owned()].into());
        assert_eq!(query.languages, ["it".to_owned()].into());
        assert_eq!(query.wanted.iter().map(|clause| clause.must).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(Query::parse("+pane +\"olio nuovo\" c++").unwrap().wanted.iter().filter(|c| c.must).count(), 2);
        assert_eq!(query.before, Timestamp::parse_day_or_instant("2026-05-01").ok());
        assert_eq!(query.after, Timestamp::parse_day_or_instant("2026-04-01").ok());
        assert_eq!(query.sort, Sort::Date);
    }

    #[test]
    fn an_author_is_a_word_or_a_name_in_quotation_marks() {
        let query = Query::parse("pane author:Rossi Author:\"Anna Maria Rossi\" -author:“Bo Ek”x site:\"example.org\"")
            .unwrap();
        assert_eq!(texts(&query.wanted), ["pane", "x"]);
        assert_eq!(query.authors, ["Rossi".to_owned(), "Anna Maria Rossi".to_owned()].into());
        assert_eq!(query.not_authors, ["Bo Ek".to_owned()].into());
        assert_eq!(query.sites, ["example.org".to_owned()].into());
        assert!(Query::parse("author:Rossi").is_ok(), "a name is enough to look for");
        assert_eq!(Query::parse("-author:Rossi"), Err(QueryError::OnlyExcluded));
        assert_eq!(Query::parse("author:"), Err(QueryError::Author(String::new())));
        assert_eq!(Query::parse("x author:\"…\""), Err(QueryError::Author("…".into())));
        assert_eq!(texts(&Query::read("co-author:\"Anna Rossi\"").0.wanted), ["co-author:", "Anna Rossi"]);
        let (query, said) = Query::read(&format!("author:\"{}\"", "a ".repeat(MAX_QUERY_TERMS + 1)));
        assert_eq!((query.authors.first().unwrap().split_whitespace().count(), said.len()), (MAX_QUERY_TERMS, 1));
    }

    #[test]
    fn hosts_are_brought_into_one_form() {
        for (typed, host) in [
            ("site:Bücher.example", "xn--bcher-kva.example"),
            ("site:example.org.", "example.org"),
            ("site:example.org:8080", "example.org"),
            ("site:*.example.org", "example.org"),
            ("site:.it", "it"),
            ("site:[2001:DB8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(Query::parse(typed).unwrap().sites, [host.to_owned()].into(), "{typed}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_words() {
        for (typed, error) in [
            ("", QueryError::Empty),
            (" \u{0} ", QueryError::Empty),
            ("… ---", QueryError::Empty),
            ("sort:relevance", QueryError::Empty),
            ("([… sort:date", QueryError::Empty),
            ("inurl:tide", QueryError::Filter("inurl".into())),
            ("-pane", QueryError::OnlyExcluded),
            ("pa*", QueryError::Wildcard("pa*".into())),
            ("title:", QueryError::Title(String::new())),
            ("tag:\"…\"", QueryError::Label("tag".into())),
            ("x in:", QueryError::Label("in".into())),
            ("-title:pane -tag:olio", QueryError::OnlyExcluded),
            ("*pane", QueryError::Wildcard("*pane".into())),
            ("pa*ne", QueryError::Wildcard("pa*ne".into())),
            ("site:", QueryError::Site(String::new())),
            ("lang:italian!", QueryError::Language("italian!".into())),
            ("before:soon", QueryError::Date("soon".into())),
            ("after:2025/11/13", QueryError::Date("2025/11/13".into())),
            ("a sort:size", QueryError::Order("size".into())),
        ] {
            let refused = Query::parse(typed).unwrap_err();
            assert_eq!(refused, error, "{typed}");
            assert!(refused.to_string().ends_with('.'), "{refused}");
            let names_both = ["before:", "after:"].iter().all(|filter| refused.to_string().contains(filter));
            assert!(names_both || !matches!(refused, QueryError::Date(_)), "{refused}");
        }
    }

    #[test]
    fn a_filter_that_there_is_not_is_said_and_looked_for_as_words() {
        for (typed, wanted, is_said) in [
            ("foo:bar tide", &["foo", "bar", "tide"][..], true),
            ("12:30", &["12:30"], false),
            ("https://example.org/", &["https://example.org/"], false),
            ("std::vec", &["std::vec"], false),
            ("note: x", &["note:", "x"], false),
        ] {
            let (query, said) = Query::read(typed);
            assert_eq!(said.iter().any(|why| matches!(why, QueryError::Filter(_))), is_said, "{typed}: {said:?}");
            assert_eq!(texts(&query.wanted), wanted, "{typed}");
            let at = query.wanted.iter().map(|clause| &typed[clause.at.clone()]);
            assert_eq!(at.collect::<Vec<_>>(), wanted, "{typed}");
        }
    }

    #[test]
    fn titles_labels_and_beginnings_are_read() {
        let query =
            Query::parse("tid* title:\"Low  Tide\" -title:draft tag:Birds -tag:\"old news\" in:Sea 🚀").unwrap();
        assert_eq!(texts(&query.wanted), ["tid*", "🚀"]);
        assert_eq!(query.titles, ["Low  Tide".to_owned()].into());
        assert_eq!(query.not_titles, ["draft".to_owned()].into());
        assert_eq!(query.labels, [tag_label("birds"), folder_label("sea")].map(Option::unwrap).into());
        assert_eq!(query.not_labels, [tag_label("Old news").unwrap()].into());
        assert!(Query::parse("title:tide").is_ok() && Query::parse("in:Sea").is_ok());
        assert_eq!(texts(&Query::parse("\"low tid*\"").unwrap().wanted), ["low tid"], "a phrase has whole words");
    }

    #[test]
    fn capitals_between_words_are_operators_of_which_not_alone_is_understood() {
        let boolean = |typed: &str| QueryError::Boolean(typed.into());
        for (typed, wanted, unwanted, said) in [
            ("tide NOT harbour", vec!["tide"], vec!["harbour"], vec![QueryError::Not]),
            (
                "tide AND NOT \"spring tide\" x",
                vec!["tide", "x"],
                vec!["spring tide"],
                vec![boolean("AND"), QueryError::Not],
            ),
            ("a OR b OR c", vec!["a", "b", "c"], vec![], vec![boolean("OR")]),
            ("sort:date NOT harbour", vec!["NOT", "harbour"], vec![], vec![]),
            ("NOT harbour", vec!["NOT", "harbour"], vec![], vec![]),
            ("tide not harbour or AND", vec!["tide", "not", "harbour", "or", "AND"], vec![], vec![]),
            ("tide \"NOT\" harbour +OR x", vec!["tide", "NOT", "harbour", "OR", "x"], vec![], vec![]),
        ] {
            let (query, left_out) = Query::read(typed);
            assert_eq!((texts(&query.wanted), texts(&query.unwanted), left_out), (wanted, unwanted, said), "{typed}");
        }
        let (query, _) = Query::read("site:example.org NOT lang:it tide");
        assert_eq!((query.not_languages, texts(&query.wanted)), (["it".to_owned()].into(), vec!["tide"]));
    }

    #[test]
    fn the_newest_of_all_pages_can_be_asked_for() {
        for typed in ["sort:date", "-pane sort:date"] {
            let query = Query::parse(typed).unwrap();
            assert!(!query.is_empty() && query.wanted.is_empty(), "{typed}");
        }
    }

    #[test]
    fn limits_hold() {
        assert_eq!(Query::parse(&"a ".repeat(10_000)), Err(QueryError::TooLong { bytes: 20_000 }));
        assert_eq!(Query::parse(&"a ".repeat(MAX_QUERY_TERMS + 1)), Err(QueryError::TooManyTerms));
        assert_eq!(Query::parse(&format!("\"{}\"", "a ".repeat(MAX_QUERY_TERMS + 1))), Err(QueryError::TooManyTerms));
        assert!(Query::parse(&"a ".repeat(MAX_QUERY_TERMS)).is_ok());
        assert_eq!(Query::parse(&"(".repeat(200)), Err(QueryError::Empty));
    }

    #[test]
    fn what_is_understood_is_looked_for_and_the_rest_is_said() {
        for (typed, wanted, left_out) in [
            ("pane before:soon", vec!["pane"], vec![QueryError::Date("soon".into())]),
            (
                "pane before:2026-13-45 lang:",
                vec!["pane"],
                vec![QueryError::Date("2026-13-45".into()), QueryError::Language(String::new())],
            ),
            ("pa*ne olio", vec!["olio"], vec![QueryError::Wildcard("pa*ne".into())]),
            ("pane\u{0}\u{1b}olio\u{7f}", vec!["pane", "olio"], vec![]),
            ("\"pane \"olio\" nuovo\"", vec!["pane ", "olio", " nuovo"], vec![]),
            ("pane after:2026-05-02 before:2026-05-01", vec!["pane"], vec![QueryError::NoDays]),
        ] {
            let (query, said) = Query::read(typed);
            assert_eq!(
                texts(&query.wanted).iter().map(|t| t.trim()).collect::<Vec<_>>(),
                wanted.iter().map(|t| t.trim()).collect::<Vec<_>>(),
                "{typed:?}"
            );
            assert_eq!(said, left_out, "{typed:?}");
        }
    }

    #[test]
    fn o12_of_a_query_that_is_too_long_its_beginning_is_read() {
        let (query, said) = Query::read(&"abc ".repeat(2_500));
        assert_eq!(query.wanted.len(), MAX_QUERY_TERMS);
        assert_eq!(said, [QueryError::TooLong { bytes: 10_000 }, QueryError::TooManyTerms]);
        let (query, _) = Query::read(&format!("pane {}", "x".repeat(10_000)));
        assert_eq!(texts(&query.wanted), ["pane"], "half a word is not looked for");
        let (query, said) = Query::read(&format!("\"{}\"", "a ".repeat(2 * MAX_QUERY_TERMS)));
        assert_eq!((query.wanted[0].text.split_whitespace().count(), said.len()), (MAX_QUERY_TERMS, 1));
        let (query, said) = Query::read(&"(".repeat(10_000));
        assert!(query.is_empty() && said.len() == 2, "{said:?}");
        let said = QueryError::Site(shown(&"\u{202e}y".repeat(5_000))).to_string();
        assert!(said.chars().count() < 200, "{said}");
    }

    #[test]
    fn words_know_where_they_stand() {
        let typed = "  pane -x \"olio nuovo\" site:a.org fine";
        let (query, _) = Query::read(typed);
        let at: Vec<&str> = query.wanted.iter().map(|clause| &typed[clause.at.clone()]).collect();
        assert_eq!(at, texts(&query.wanted));
        assert_eq!(at, ["pane", "olio nuovo", "fine"]);
    }

    #[test]
    fn an_open_quotation_mark_reaches_to_the_end() {
        assert_eq!(texts(&Query::parse("a \"b c").unwrap().wanted), ["a", "b c"]);
        assert_eq!(texts(&Query::parse("a“b c”d").unwrap().wanted), ["a", "b c", "d"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let (query, left_out) = Query::read(&text);
            prop_assert!(!query.is_empty() || !left_out.is_empty());
        }

        #[test]
        fn no_row_of_operators_makes_it_panic(text in "([a-zà-ü東\"“: *()-]|author:|site:|lang:|before:|after:|sort:|2026-13-01|\\[){0,40}") {
            if let Ok(query) = Query::parse(&text) {
                prop_assert!(query.wanted.len() + query.unwanted.len() <= MAX_QUERY_TERMS);
            }
        }
    }
}

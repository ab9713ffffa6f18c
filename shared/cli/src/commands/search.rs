//! `curlew search`.

use crate::failure::usage;
use crate::output::{self, printable};
use crate::world::World;
use anyhow::Result;
use curlew_catalog::results::{FindError, SearchHit, SearchResults, Start};
use curlew_crawl::feeds::websub::web_secret;

const MOST: usize = 1_000;
const EMPTY: &str = "The index is empty: crawl a site, as in `curlew crawl example.org --contact you@example.org`. A \
    crawl publishes the accepted pages at its end.";
/// Operators whose value may contain spaces.
const WITH_BLANKS: [&str; 4] = ["author:", "title:", "tag:", "in:"];
/// Maximum number of characters of a line for people.
const LINE: usize = 100;

pub(super) async fn run(world: &World, words: &[String], limit: usize, explain: bool, json: bool) -> Result<()> {
    if limit > MOST {
        return Err(usage(format!("--limit may be at most {MOST}")));
    }
    let query = match words {
        [whole] => whole.clone(),
        several => several.iter().map(|word| quoted(word.trim_start())).collect::<Vec<_>>().join(" "),
    };
    // Cursors must be valid for the API of this store's server, so sign them with its secret.
    if json && let Some(secret) = web_secret(world.ports.blobs.as_ref()).await? {
        world.library.finder.sign_cursors(secret);
    }
    let found = match explain {
        true => world.library.finder.explain(&query, limit).await,
        false => world.library.finder.find(&query, Start::Offset(0), limit).await,
    };
    let found = found.map_err(|error| match error {
        FindError::BadQuery(why) => usage(why.to_string()),
        FindError::Port(error) => error.into(),
    })?;
    if json {
        return output::json(&found);
    }
    found.notes.iter().try_for_each(|note| output::line(printable(&note.to_string(), 4 * LINE)))?;
    output::line(heading(&found))?;
    not_searched(&found).iter().try_for_each(output::line)?;
    if found.total == 0 && world.library.index.years().await?.is_empty() {
        output::line(EMPTY)?;
    }
    found.unknown.iter().try_for_each(|word| output::line(format!("No results for '{}'.", printable(word, LINE))))?;
    found.hits.iter().try_for_each(show)?;
    if let Some(meant) = &found.suggestion {
        output::line(format!("\nDid you mean: {}", printable(meant, 4 * LINE)))?;
    }
    Ok(())
}

fn heading(found: &SearchResults) -> String {
    let copies = match found.copies {
        0 => String::new(),
        1 => ", and one hidden duplicate".to_owned(),
        more => format!(", and {more} hidden duplicates"),
    };
    let all = output::count(found.total, "page");
    match found.partial {
        0 => format!("{all}{copies}"),
        some => format!("{all} with all words{copies}; {some} with some of them"),
    }
}

fn not_searched(found: &SearchResults) -> Vec<String> {
    let mut lines = Vec::new();
    if found.unsearched > 0 {
        let pages = output::count(found.unsearched, "page");
        lines.push(format!(
            "Not searched, because a part of the index does not answer or cannot be read by this version: {pages}."
        ));
    }
    if !found.unsearched_years.is_empty() {
        let years: Vec<String> = found.unsearched_years.iter().map(ToString::to_string).collect();
        let years = years.join(", ");
        lines.push(format!("Not searched, because another version wrote their index: all pages of {years}."));
    }
    lines
}

fn show(hit: &SearchHit) -> Result<()> {
    let day = hit.published.map(|at| format!(", {}", at.day())).unwrap_or_default();
    output::line(format!("\n{}\n  {}{day}", printable(&hit.title, LINE), printable(&hit.site, LINE)))?;
    output::line(format!("  {}\n  {}", printable(&hit.url, 2_048), printable(&hit.snippet, 4 * LINE)))?;
    if !hit.missing.is_empty() {
        output::line(format!("  Without: {}", printable(&hit.missing.join(", "), LINE)))?;
    }
    if let Some(why) = &hit.explanation {
        let words: Vec<String> = why.words.iter().map(|(word, adds)| format!("{word} {adds:.2}")).collect();
        output::line(format!(
            "  Score {:.2} = ({}) × {:.2} for adjacent words × {:.2} for recency × {:.2} for completeness",
            hit.score,
            printable(&words.join(" + "), 4 * LINE),
            why.proximity,
            why.freshness,
            why.completeness
        ))?;
    }
    Ok(())
}

/// Restores the quotation marks that the shell removed around a phrase or the value of an operator.
fn quoted(word: &str) -> String {
    if !word.contains(' ') || word.contains('"') {
        return word.to_owned();
    }
    let (minus, rest) = word.split_at(usize::from(word.starts_with(['-', '+'])));
    let operator = WITH_BLANKS.iter().find(|operator| rest.starts_with(**operator));
    let (operator, phrase) = rest.split_at(operator.map_or(0, |operator| operator.len()));
    format!("{minus}{operator}\"{phrase}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_a_part_of_the_index_says_so() {
        assert_eq!(not_searched(&SearchResults::default()), Vec::<String>::new());
        let part = SearchResults { unsearched: 1, unsearched_years: vec![2025, 2026], ..SearchResults::default() };
        let lines = not_searched(&part);
        assert!(lines.len() == 2 && lines[0].ends_with(": 1 page.") && lines[1].ends_with(" 2025, 2026."), "{lines:?}");
    }

    #[test]
    fn what_the_shell_has_unquoted_is_quoted_again() {
        for (word, typed) in [
            ("tide", "tide"),
            ("spring tide", "\"spring tide\""),
            ("-spring tide", "-\"spring tide\""),
            ("+spring tide", "+\"spring tide\""),
            ("author:Anna Rossi", "author:\"Anna Rossi\""),
            ("title:spring tide", "title:\"spring tide\""),
            ("-author:Anna Rossi", "-author:\"Anna Rossi\""),
            ("author:\"Anna Rossi\"", "author:\"Anna Rossi\""),
            ("note: high tide", "\"note: high tide\""),
        ] {
            assert_eq!(quoted(word), typed);
        }
    }
}

//! `curlew search`.

use crate::failure::usage;
use crate::output::{self, shown};
use crate::world::World;
use anyhow::Result;
use curlew_ports::{FindError, Start};
use curlew_stages::web_secret;

/// The most hits that one search shows.
const MOST: usize = 1_000;
/// The operator whose value may have blanks.
const AUTHOR: &str = "author:";
/// Characters of a line for people.
const LINE: usize = 100;

pub(super) async fn run(world: &World, words: &[String], limit: usize, json: bool) -> Result<()> {
    if limit > MOST {
        return Err(usage(format!("--limit may be at most {MOST}")));
    }
    let query: Vec<String> = match words {
        [whole] => vec![whole.clone()],
        several => several.iter().map(|word| quoted(word.trim_start())).collect(),
    };
    // A cursor is for the API of those who serve this store.
    if json && let Some(secret) = web_secret(world.ports.blobs.as_ref()).await? {
        world.finder.sign_cursors(secret);
    }
    let found = match world.finder.find(&query.join(" "), Start::Offset(0), limit).await {
        Ok(found) => found,
        Err(FindError::BadQuery(why)) => return Err(usage(why.to_string())),
        Err(FindError::Port(error)) => return Err(error.into()),
    };
    if json {
        return Ok(output::json(&found)?);
    }
    for note in &found.notes {
        output::line(&shown(&note.to_string(), 4 * LINE))?;
    }
    let copies = match found.copies {
        0 => String::new(),
        1 => ", and one copy that is not shown".to_owned(),
        more => format!(", and {more} copies that are not shown"),
    };
    output::line(&format!("{}{copies}", output::count(found.total, "page")))?;
    for hit in &found.hits {
        let day = hit.published.map(|at| format!(", {}", at.day())).unwrap_or_default();
        output::line(&format!("\n{}\n  {}{day}", shown(&hit.title, LINE), shown(&hit.site, LINE)))?;
        output::line(&format!("  {}\n  {}", shown(&hit.url, 2_048), shown(&hit.snippet, 4 * LINE)))?;
    }
    if let Some(meant) = &found.suggestion {
        output::line(&format!("\nDid you mean: {}", shown(meant, 4 * LINE)))?;
    }
    Ok(())
}

/// A phrase, or an author's name, that the shell has taken out of its quotation marks.
fn quoted(word: &str) -> String {
    if !word.contains(' ') || word.contains('"') {
        return word.to_owned();
    }
    let (minus, rest) = word.split_at(usize::from(word.starts_with('-')));
    let (author, phrase) = rest.split_at(if rest.starts_with(AUTHOR) { AUTHOR.len() } else { 0 });
    format!("{minus}{author}\"{phrase}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_has_unquoted_is_quoted_again() {
        for (word, typed) in [
            ("tide", "tide"),
            ("spring tide", "\"spring tide\""),
            ("-spring tide", "-\"spring tide\""),
            ("author:Anna Rossi", "author:\"Anna Rossi\""),
            ("-author:Anna Rossi", "-author:\"Anna Rossi\""),
            ("author:\"Anna Rossi\"", "author:\"Anna Rossi\""),
            ("note: high tide", "\"note: high tide\""),
        ] {
            assert_eq!(quoted(word), typed);
        }
    }
}

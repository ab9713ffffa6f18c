//! `curlew search`.

use crate::failure::usage;
use crate::output::{self, shown};
use crate::world::World;
use anyhow::Result;
use curlew_ports::{FindError, Start};

/// The most hits that one search shows.
const MOST: usize = 1_000;
/// Characters of a line for people.
const LINE: usize = 100;

pub(super) async fn run(world: &World, words: &[String], limit: usize, json: bool) -> Result<()> {
    if limit > MOST {
        return Err(usage(format!("--limit may be at most {MOST}")));
    }
    // A phrase that the shell has taken out of its quotes is one again.
    let query: Vec<String> = words
        .iter()
        .map(|w| if words.len() > 1 && w.contains(' ') && !w.contains('"') { format!("\"{w}\"") } else { w.clone() })
        .collect();
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
    let pages = if found.total == 1 { "page" } else { "pages" };
    output::line(&format!("{} {pages}", found.total))?;
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

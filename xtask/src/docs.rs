//! `cargo xtask docs`: builds the site of `docs/` with mkdocs and `mkdocs.yml`.

use crate::run::{program, root, run, target};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Markup that makes a reader's browser load something from another site.
const FOREIGN: [&str; 4] = ["src=\"http", "src=\"//", "rel=\"stylesheet\" href=\"http", "rel=\"stylesheet\" href=\"//"];

/// Builds the site into `target/site`. Fails on a dead link, an unknown anchor, a page that is missing from the
/// navigation, or something that a browser would load from another site.
pub(crate) fn docs() -> Result<()> {
    let (mkdocs, site) = (tools::mkdocs()?, target()?.join("site"));
    let mut build = program(mkdocs);
    // Turn off the theme's advertisement of its successor, which is no warning about this site.
    build.args(["build", "--strict", "--clean", "--site-dir"]).arg(&site).env("NO_MKDOCS_2_WARNING", "1");
    run(&mut build)?;
    for page in html(&site)? {
        let text = std::fs::read_to_string(&page).with_context(|| format!("{} cannot be read", page.display()))?;
        if let Some(foreign) = FOREIGN.iter().find(|foreign| text.contains(**foreign)) {
            bail!("{} fetches something from elsewhere: {foreign}", page.display());
        }
    }
    eprintln!("xtask: the site is at {}", site.join("index.html").strip_prefix(root()).unwrap_or(&site).display());
    Ok(())
}

/// Returns all HTML files below a folder.
fn html(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut folders, mut pages) = (vec![folder.to_owned()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    Ok(pages)
}

//! Reads schema.org JSON-LD as it occurs: raw line breaks, comments, several values in a row, arrays for one value.

use crate::markup::{MAX_AUTHORS, Statements, is_article, is_false};
use crate::read::outline::Outline;
use curlew_text::{json, leftovers::is_leftover, references};
use serde_json::Value;
use std::collections::HashMap;
use url::Url;

/// Objects by the `@id` through which others refer to them (JSON-LD 1.1 §3.3, "node identifiers").
type Ids<'v> = HashMap<&'v str, &'v Value>;

/// Bytes of a string that count as one value.
const VALUE_BYTES: usize = 256;

/// Looks up values within a budget: many objects may refer to a large one.
struct Reader<'v> {
    page: &'v Url,
    ids: Ids<'v>,
    left: usize,
}

pub(crate) fn read(outline: &Outline<'_>) -> Statements {
    let most = outline.limits.json_values;
    let mut found = Statements::default();
    let values: Vec<Value> = outline.json.iter().flat_map(|script| parse(script)).collect();
    let mut reader = Reader { page: &outline.page, ids: identified(&values), left: most };
    let mut works = Vec::new();
    for value in &values {
        reader.visit(value, &mut found, &mut works);
    }
    // Videos, products and the like are often only part of an article, and an article may be that of another page.
    if let Some(work) = works.first().filter(|_| found.headline.is_none()) {
        reader.article(work, &mut found);
    }
    // Text that the page does not show to everybody is not indexed.
    found.body.take_if(|_| found.is_paywalled);
    found.steps = (most - reader.left) as u64;
    found
}

fn identified(values: &[Value]) -> Ids<'_> {
    const MAX_OBJECTS: usize = 2_000;
    let mut ids = Ids::new();
    let mut waiting: Vec<&Value> = values.iter().rev().collect();
    while let Some(value) = waiting.pop().filter(|_| ids.len() < MAX_OBJECTS) {
        match value {
            Value::Array(values) => waiting.extend(values.iter().rev()),
            Value::Object(object) => {
                waiting.extend(object.get("@graph"));
                if let Some(id) = object.get("@id").and_then(Value::as_str).filter(|_| object.len() > 1) {
                    ids.entry(id).or_insert(value);
                }
            }
            _ => {}
        }
    }
    ids
}

fn parse(script: &str) -> Vec<Value> {
    let script = ["<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA["]
        .iter()
        .fold(script.trim(), |s, mark| s.strip_prefix(mark).unwrap_or(s));
    // A comment may end after the last valid value.
    let values = |text: &str| {
        let tame = text.replace(char::is_control, " ");
        serde_json::Deserializer::from_str(&tame).into_iter().map_while(Result::ok).collect()
    };
    let strict: Vec<Value> = values(script);
    if strict.is_empty() { values(&json::mended(script)) } else { strict }
}

impl<'v> Reader<'v> {
    /// Charges one value and the bytes of its text; returns false if the budget is exceeded.
    fn charge(&mut self, bytes: usize) -> bool {
        let cost = 1 + bytes / VALUE_BYTES;
        let enough = self.left >= cost;
        self.left = self.left.saturating_sub(cost);
        enough
    }

    fn visit(&mut self, root: &'v Value, found: &mut Statements, works: &mut Vec<&'v Value>) {
        let mut waiting = vec![root];
        while let Some(value) = waiting.pop() {
            if !self.charge(0) {
                return;
            }
            match value {
                Value::Array(values) => waiting.extend(values.iter().rev()),
                Value::Object(object) => {
                    let kinds = kinds(value);
                    if kinds.iter().any(|kind| is_article(kind)) && !self.is_of_another_page(value) {
                        found.is_live |= kinds.contains(&"LiveBlogPosting");
                        self.article(value, found);
                    } else if kinds.contains(&"WebSite") {
                        fill(&mut found.site_name, || self.name(value.get("name")));
                    } else if kinds.iter().any(|kind| matches!(*kind, "Organization" | "NewsMediaOrganization")) {
                        fill(&mut found.organization, || self.name(value.get("name")));
                        self.logo(value, found);
                    } else if kinds.iter().any(|kind| is_work(kind) || is_article(kind)) {
                        works.push(value);
                    } else if kinds.iter().any(|kind| kind.ends_with("Page")) {
                        self.page(value, found);
                    }
                    let inner = ["mainEntity", "mainEntityOfPage", "@graph"];
                    waiting.extend(inner.iter().filter_map(|key| object.get(*key)));
                }
                _ => {}
            }
        }
    }

    fn article(&mut self, value: &'v Value, found: &mut Statements) {
        let longer = self.first(value, &["articleBody", "text"]).or_else(|| self.steps_of(value));
        if let Some(body) = longer
            && found.body.as_ref().is_none_or(|known| known.len() < body.len())
        {
            found.body = Some(body);
        }
        let headline = self.first(value, &["headline", "name"]);
        // Another article that the page names says nothing about this one.
        if found.headline.is_none() || headline.is_none() || headline == found.headline {
            found.is_paywalled |= self.is_paywalled(value);
        }
        fill(&mut found.headline, || headline);
        let author = ["author", "creator"].iter().find_map(|key| value.get(*key).filter(|value| !value.is_null()));
        let slot =
            if author.is_some_and(|author| self.is_office(author)) { &mut found.office } else { &mut found.author };
        fill(slot, || self.names(value.get("author")).or_else(|| self.names(value.get("creator"))));
        fill(&mut found.publisher, || self.name(value.get("publisher")));
        fill(&mut found.address, || self.address(value));
        if let Some(publisher) = value.get("publisher") {
            self.logo(publisher, found);
        }
        self.dates_and_image(value, found);
    }

    /// Returns the lines of a recipe or of instructions: the description, what is needed, and each step.
    fn steps_of(&mut self, value: &'v Value) -> Option<String> {
        const MAX_LINES: usize = 400;
        let mut lines = Vec::new();
        let parts = ["description", "recipeIngredient", "supply", "tool", "recipeInstructions", "step"];
        let mut waiting: Vec<&'v Value> = parts.iter().rev().filter_map(|key| value.get(*key)).collect();
        while let Some(value) = waiting.pop().filter(|_| lines.len() < MAX_LINES && self.charge(0)) {
            match self.referred(value) {
                // An array may contain a reference to itself, so its values count against the budget.
                Value::Array(values) => {
                    let some = values.get(..values.len().min(self.left)).unwrap_or_default();
                    self.left -= some.len();
                    waiting.extend(some.iter().rev());
                }
                Value::Object(step) => {
                    let inner = step.get("itemListElement").or(step.get("steps"));
                    let said = ["text", "name"].iter().find_map(|key| step.get(*key)).filter(|_| inner.is_none());
                    waiting.extend(inner);
                    waiting.extend(said.or(step.get("name")));
                }
                other => lines.extend(self.string(Some(other))),
            }
        }
        // A description without steps is not a text.
        (lines.len() > 2).then(|| lines.join("\n"))
    }

    fn page(&mut self, value: &'v Value, found: &mut Statements) {
        found.is_paywalled |= self.is_paywalled(value);
        self.dates_and_image(value, found);
        fill(&mut found.author, || self.names(value.get("author")));
    }

    fn dates_and_image(&mut self, value: &'v Value, found: &mut Statements) {
        fill(&mut found.published, || self.first(value, &["datePublished", "datePosted", "dateCreated", "uploadDate"]));
        fill(&mut found.modified, || self.first(value, &["dateModified"]));
        fill(&mut found.language, || self.name(value.get("inLanguage")));
        let images = ["image", "primaryImageOfPage", "thumbnailUrl"];
        fill(&mut found.image, || images.iter().find_map(|key| self.image(value.get(*key))));
    }

    /// True if a work says that it is not free, or that one of its parts is not (schema.org, "isAccessibleForFree").
    fn is_paywalled(&mut self, work: &'v Value) -> bool {
        let parts = several(work.get("hasPart"));
        let mut works = std::iter::once(work).chain(parts).take_while(|_| self.charge(0));
        works.any(|work| match work.get("isAccessibleForFree") {
            Some(Value::Bool(is_free)) => !is_free,
            Some(Value::String(is_free)) => is_false(is_free),
            _ => false,
        })
    }

    fn first(&mut self, value: &'v Value, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| match value.get(*key)? {
            Value::Number(number) => Some(number.to_string()),
            other => self.string(Some(other)),
        })
    }

    fn string(&mut self, value: Option<&'v Value>) -> Option<String> {
        let text = match value? {
            Value::String(text) => text,
            Value::Array(values) => values.iter().take_while(|_| self.charge(0)).find_map(Value::as_str)?,
            // A value with its type or its language (JSON-LD 1.1 §4.2).
            Value::Object(object) => object.get("@value").and_then(Value::as_str)?,
            _ => return None,
        };
        (self.charge(text.len()) && !is_leftover(text)).then(|| references::decode(text).into_owned())
    }

    /// Resolves a value that consists only of an `@id` to the object of that id; returns any other value itself.
    fn referred(&self, value: &'v Value) -> &'v Value {
        let object = value.as_object().filter(|object| object.len() == 1);
        let id = object.and_then(|object| object.get("@id")).and_then(Value::as_str);
        id.and_then(|id| self.ids.get(id)).copied().unwrap_or(value)
    }

    fn name(&mut self, value: Option<&'v Value>) -> Option<String> {
        let value = value.filter(|_| self.charge(0))?;
        match self.referred(value) {
            Value::Array(values) => values.iter().find_map(|value| self.name(unless_array(value))),
            Value::Object(object) => {
                let name = self.string(object.get("name")).or_else(|| self.string(object.get("alternateName")));
                name.or_else(|| {
                    Some(self.string(object.get("givenName"))? + " " + &self.string(object.get("familyName"))?)
                })
            }
            other => self.string(Some(other)),
        }
    }

    fn address(&mut self, value: &'v Value) -> Option<String> {
        let page = value.get("mainEntityOfPage").filter(|_| self.charge(0));
        let page = page.and_then(|page| self.string(page.get("@id").or(page.get("url")).or(Some(page))));
        page.or_else(|| self.string(value.get("url")))
    }

    /// True if a work names another address than the page's, whatever its host: it may be an old name of the same page.
    fn is_of_another_page(&mut self, value: &'v Value) -> bool {
        let named = self.address(value).and_then(|address| self.page.join(&address).ok());
        named.is_some_and(|named| named.path().trim_end_matches('/') != self.page.path().trim_end_matches('/'))
    }

    fn logo(&mut self, value: &'v Value, found: &mut Statements) {
        const MAX_LOGOS: usize = 4;
        let logo = self.image(self.referred(value).get("logo")).filter(|_| found.logos.len() < MAX_LOGOS);
        found.logos.extend(logo);
    }

    fn is_office(&self, value: &'v Value) -> bool {
        let [value] = several(Some(value)) else { return false };
        let is_one = |kind: &&str| matches!(*kind, "Organization" | "NewsMediaOrganization" | "Corporation");
        kinds(self.referred(value)).iter().any(is_one)
    }

    fn names(&mut self, value: Option<&'v Value>) -> Option<String> {
        let names = several(value).iter().filter_map(|value| self.name(unless_array(value)));
        let names: Vec<String> = names.take(MAX_AUTHORS).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns the URL of an image; for an object without a URL, its `@id`, unless that has a fragment.
    fn image(&mut self, value: Option<&'v Value>) -> Option<String> {
        let value = value.filter(|_| self.charge(0))?;
        match self.referred(value) {
            Value::Array(values) => values.iter().find_map(|value| self.image(unless_array(value))),
            Value::Object(object) => {
                let address = self.string(object.get("url")).or_else(|| self.string(object.get("contentUrl")));
                address.or_else(|| self.string(object.get("@id")).filter(|id| !id.contains('#')))
            }
            other => self.string(Some(other)),
        }
    }
}

fn fill(slot: &mut Option<String>, value: impl FnOnce() -> Option<String>) {
    if slot.is_none() {
        *slot = value().filter(|text| !text.trim().is_empty());
    }
}

fn several(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(values)) => values,
        Some(value) => std::slice::from_ref(value),
        None => &[],
    }
}

fn kinds(value: &Value) -> Vec<&str> {
    /// Maximum number of types that are read, and maximum length of one in bytes.
    const MAX_KINDS: usize = 8;
    const MAX_KIND_BYTES: usize = 256;
    let kinds = several(value.get("@type")).iter().take(MAX_KINDS).filter_map(Value::as_str);
    let kinds = kinds.filter(|kind| kind.len() <= MAX_KIND_BYTES);
    kinds.map(|kind| kind.rsplit(['/', '#', ':']).next().unwrap_or(kind)).collect()
}

fn is_work(kind: &str) -> bool {
    const KINDS: &str = "PodcastEpisode VideoObject AudioObject Question Course Dataset JobPosting Event";
    KINDS.split(' ').any(|known| known == kind)
}

/// Returns the value unless it is an array, so that looking up a name terminates.
fn unless_array(value: &Value) -> Option<&Value> {
    (!value.is_array()).then_some(value)
}

//! The layers of the settings: defaults, the file, the environment, and flags.

use super::tables::{Agent, File, Limits, METRICS, Metrics, Signatures};
use super::{Flags, LogForm, PUBLISH_EVERY, TOKEN, WORKERS};
use crate::settings::BadSettings;
use crate::threads::PARSE_TIME;
use curlew_crawl::pages::image::DECODED_BYTES;
use curlew_fetcher::Config;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Prefix of environment variables that are settings.
const ENV_PREFIX: &str = "CURLEW_";
/// Tables of the file. An environment variable names a table and a key, joined by `_`.
const TABLES: &str = "rules agent hosts network web metrics admin limits pages exclude robots signatures raw screen";
/// Keys of the file outside of all tables.
const PLAIN: [&str; 6] = ["data", "contact", "workers", "log", "publish_every", "paused"];
/// Removed tables, each with the reason and the remedy.
const GONE: [(&str, &str); 2] = [
    ("tracing", "since spans are not exported any more: remove it; each log line has the id of its trace"),
    ("preferences", WITHOUT_PREFERENCES),
];
const WITHOUT_PREFERENCES: &str =
    "since AIPREF and TDMRep are not read any more: remove it; content signals and RSL licences are always obeyed";
/// Table and key of each setting whose value is never shown.
const SECRETS: [(&str, &str); 2] = [("metrics", "token"), ("web", "front_secret")];
const HIDDEN: &str = "(hidden)";

/// Maximum number of changed letters in a name that counts as a misspelling of another.
const MOST_SLIPS: usize = 3;

curlew_model::words! {
    /// The layer that a value comes from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Origin {
        /// The program's default.
        Default = "default",
        /// The settings file states it.
        File = "file",
        /// An environment variable states it.
        Environment = "environment",
        /// A flag of the command line states it.
        Flag = "flag",
    }
}

/// A setting with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// Table of the setting; empty if it is outside of all tables.
    pub table: String,
    /// Key of the setting.
    pub key: String,
    /// Value of the setting; `(hidden)` for a secret.
    pub value: toml::Value,
    /// Layer that decides the value.
    pub origin: Origin,
}

/// Environment variables that are settings, without their prefix, in lower case, sorted.
pub(super) type Environment = Vec<(String, String)>;

pub(super) fn environment(variables: impl Iterator<Item = (String, String)>) -> Environment {
    let settings = variables.filter_map(|(k, v)| Some((k.strip_prefix(ENV_PREFIX)?.to_lowercase(), v)));
    let mut settings: Environment = settings.collect();
    settings.sort();
    settings
}

pub(super) fn file_of(flags: &Flags, environment: &[(String, String)]) -> Option<PathBuf> {
    let from_env = environment.iter().find(|(k, _)| k == "config").map(|(_, v)| PathBuf::from(v));
    flags.file.clone().or(from_env)
}

pub(super) struct Layers {
    file: toml::Table,
    /// Settings of the file, overridden by those of the environment.
    both: toml::Table,
}

impl Layers {
    /// Reads the file and the environment. An error is one line with file, line and column.
    pub(super) fn read(flags: &Flags, environment: &[(String, String)]) -> Result<Layers, BadSettings> {
        let Some(path) = file_of(flags, environment) else { return Layers::over(toml::Table::new(), environment) };
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|e| BadSettings(format!("the settings in {} cannot be read: {e}", path.display())))?;
        Layers::read_text(&path.display().to_string(), &text, environment)
    }

    /// Reads a text in place of the file, and the environment. An error is one line with `name`, line and column.
    pub(super) fn read_text(name: &str, text: &str, environment: &[(String, String)]) -> Result<Layers, BadSettings> {
        Layers::over(parse(name, text)?, environment)
    }

    fn over(file: toml::Table, environment: &[(String, String)]) -> Result<Layers, BadSettings> {
        let mut both = file.clone();
        for (key, value) in environment {
            if let Some((name, why)) = GONE.iter().find(|(name, _)| rest_of(key, name).is_some()) {
                return Err(gone(name, why));
            }
            if let Some(meant) = meant(key) {
                let [key, meant] = [key, &meant].map(|name| format!("{ENV_PREFIX}{}", name.to_uppercase()));
                return Err(BadSettings(format!("there is no setting {key}; did you mean {meant}?")));
            }
            set(&mut both, key, value);
        }
        Ok(Layers { file, both })
    }

    /// Returns the settings of file and environment. An error is one line about a wrong variable.
    pub(super) fn merged(&self) -> Result<File, BadSettings> {
        let wrong = |e: toml::de::Error| {
            // The error's text names the key on a separate line: "in `rules.min_pause`".
            let said = e.to_string();
            let key = said.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
            let which = key.map(|key| format!("setting {ENV_PREFIX}{} is", key.replace('.', "_").to_uppercase()));
            let which = which.unwrap_or_else(|| "settings are".to_owned());
            BadSettings(format!("the {which} wrong: {}", what_is_wrong(&e)))
        };
        self.both.clone().try_into().map_err(wrong)
    }

    /// Returns every setting that has a value, grouped by table, with the layer that decides the value.
    pub(super) fn effective(&self, flags: &Flags) -> Result<Vec<Effective>, BadSettings> {
        let defaults = toml::Table::try_from(usual());
        let mut defaults = defaults.map_err(|e| BadSettings(format!("the defaults cannot be written as TOML: {e}")))?;
        set(&mut defaults, "screen_image", "auto");
        let mut all = Vec::new();
        for table in std::iter::once("").chain(tables()) {
            let layers = [&defaults, &self.both].map(|layer| settings_of(layer, table).into_iter().flatten());
            let keys: BTreeSet<&String> = layers.into_iter().flatten().map(|(key, _)| key).collect();
            for key in keys.into_iter().filter(|key| !table.is_empty() || tables().all(|table| table != *key)) {
                let of = |layer| settings_of(layer, table).and_then(|settings| settings.get(key)).cloned();
                let (flag, stated) = (flag(flags, table, key), of(&self.both));
                let origin = match (&flag, &stated) {
                    (Some(_), _) => Origin::Flag,
                    (None, None) => Origin::Default,
                    (None, Some(_)) if stated == of(&self.file) => Origin::File,
                    (None, Some(_)) => Origin::Environment,
                };
                let Some(value) = flag.or(stated).or_else(|| of(&defaults)) else { continue };
                let value = match SECRETS.contains(&(table, key.as_str())) {
                    true => HIDDEN.into(),
                    false => in_units(table, key, value),
                };
                all.push(Effective { table: table.to_owned(), key: key.clone(), value, origin });
            }
        }
        Ok(all)
    }
}

fn gone(table: &str, why: &str) -> BadSettings {
    BadSettings(format!("[{table}] is gone, {why}"))
}

fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.split(' ')
}

/// Returns the key after the table's name in a variable's name.
fn rest_of<'a>(key: &'a str, table: &str) -> Option<&'a str> {
    key.strip_prefix(table)?.strip_prefix('_')
}

/// Returns the default settings, with their values spelled out.
pub(super) fn usual() -> File {
    let calls = Config::new(String::new(), String::new());
    File {
        data: Some(PathBuf::from("curlew-data")),
        workers: Some(WORKERS),
        log: Some("text".to_owned()),
        publish_every: Some(PUBLISH_EVERY),
        agent: Agent { name: Some(TOKEN.to_owned()), ..Agent::default() },
        limits: Limits {
            connect_timeout: Some(calls.connect_timeout),
            read_timeout: Some(calls.read_timeout),
            page_bytes: Some(calls.bytes.page),
            feed_bytes: Some(calls.bytes.feed),
            sitemap_bytes: Some(calls.bytes.sitemap),
            image_bytes: Some(calls.bytes.image),
            decoded_bytes: Some(DECODED_BYTES),
            parse_time: Some(PARSE_TIME),
            bodies_bytes: Some(calls.bodies_bytes),
        },
        metrics: Metrics { listen: Some(METRICS.to_owned()), token: None },
        paused: Some(false),
        signatures: Signatures { mode: Some("asked".to_owned()) },
        ..File::default()
    }
}

/// Returns a value as people write it: with its unit if the setting is a length of time.
fn in_units(table: &str, key: &str, value: toml::Value) -> toml::Value {
    let written = match &value {
        toml::Value::Integer(ms) => length_of_time(*ms).into(),
        toml::Value::Array(all) if !all.is_empty() && all.iter().all(toml::Value::is_integer) => {
            let all = all.iter().filter_map(toml::Value::as_integer);
            toml::Value::Array(all.map(|ms| length_of_time(ms).into()).collect())
        }
        _ => return value,
    };
    let head = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
    let is_taken = toml::from_str::<File>(&format!("{head}{key} = {written}")).is_ok();
    if is_taken { written } else { value }
}

/// Writes milliseconds in the largest unit in which they are whole.
fn length_of_time(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = UNITS.into_iter().find(|(unit, _)| ms >= *unit && ms % unit == 0);
    unit.map_or_else(|| format!("{ms}ms"), |(unit, name)| format!("{}{name}", ms / unit))
}

/// Returns the settings of a table; for an empty name, the top level including its tables.
fn settings_of<'a>(layer: &'a toml::Table, table: &str) -> Option<&'a toml::Table> {
    if table.is_empty() { Some(layer) } else { layer.get(table).and_then(toml::Value::as_table) }
}

fn flag(flags: &Flags, table: &str, key: &str) -> Option<toml::Value> {
    match (table, key) {
        ("", "data") => flags.data.as_ref().map(|path| path.display().to_string().into()),
        ("", "contact") => flags.contact.clone().map(Into::into),
        ("", "workers") => flags.workers.and_then(|n| i64::try_from(n).ok()).map(Into::into),
        ("", "log") => flags.log.map(|form| if form == LogForm::Json { "json" } else { "text" }.into()),
        _ => None,
    }
}

fn parse(name: &str, text: &str) -> Result<toml::Table, BadSettings> {
    let table = text.parse::<toml::Table>();
    let is_in_it = |name: &str| table.as_ref().is_ok_and(|table| table.contains_key(name));
    if let Some((name, why)) = GONE.iter().find(|(name, _)| is_in_it(name)) {
        return Err(gone(name, why));
    }
    // Only errors of parsing the text have line and column, so the text is checked before the layers are merged.
    let checked = toml::from_str::<File>(text).and(table);
    checked.map_err(|e| {
        let (line, column) = place(text, e.span().map_or(0, |span| span.start));
        BadSettings(format!("{name}, line {line}, column {column}: {}", what_is_wrong(&e)))
    })
}

/// Returns a file's text with `paused` set; fails if the text is invalid, or states `paused` in an unusual way.
pub fn with_paused(name: &str, text: &str, paused: bool) -> Result<String, BadSettings> {
    parse(name, text)?;
    let is_switch =
        |line: &str| line.trim_start().strip_prefix("paused").is_some_and(|l| l.trim_start().starts_with('='));
    // Settings outside of all tables come before the first table.
    let head = text.lines().take_while(|line| !line.trim_start().starts_with('[')).count();
    let kept = text.lines().enumerate().filter(|(n, line)| *n >= head || !is_switch(line)).map(|(_, line)| line);
    let first = paused.then_some("paused = true");
    let switched: String = first.into_iter().chain(kept).flat_map(|line| [line, "\n"]).collect();
    let stated = parse(name, &switched)?.get("paused").is_some_and(|value| value.as_bool() == Some(true));
    if stated == paused {
        return Ok(switched);
    }
    Err(BadSettings(format!("{name} states `paused` in an unusual way: change it by hand")))
}

/// Returns line and column of a byte offset, both counted from 1; columns are characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Returns the known name closest to an unknown one; `None` if none is close enough.
fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = known.map(|known| (strsim::osa_distance(unknown, known), known));
    slips.filter(|(slips, known)| *slips <= MOST_SLIPS.min(known.len() / 3)).min().map(|(_, known)| known)
}

/// Returns the correct name of a misspelled variable, without its prefix; `None` for all other variables.
fn meant(key: &str) -> Option<String> {
    let names_table = tables().any(|table| rest_of(key, table).is_some());
    if names_table || key == "config" || PLAIN.contains(&key) {
        return None;
    }
    if let Some(plain) = nearest(key, PLAIN.into_iter()) {
        return Some(plain.to_owned());
    }
    let (table, rest) = key.split_once('_')?;
    nearest(table, tables()).map(|table| format!("{table}_{rest}"))
}

/// Returns the error in one line; for an unknown name, suggests the closest known name.
fn what_is_wrong(error: &toml::de::Error) -> String {
    let message = error.message().lines().next().unwrap_or_default();
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| message.starts_with("unknown field"));
    let near = unknown.and_then(|unknown| nearest(unknown, names));
    match (unknown, near) {
        (Some(unknown), Some(known)) => format!("there is no setting `{unknown}`; did you mean `{known}`?"),
        _ => message.to_owned(),
    }
}

/// Stores a variable in `table`: `rules_min_pause` as `min_pause` of `[rules]`. Ignores variables of other programs.
fn set(table: &mut toml::Table, key: &str, value: &str) {
    // A secret is a string, even if it has only digits.
    let is_secret = SECRETS.iter().any(|(table, name)| rest_of(key, table) == Some(name));
    let parsed = format!("v = {value}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("v"));
    let value = parsed.filter(|value| !is_secret || value.is_str()).unwrap_or_else(|| value.into());
    if let Some((name, rest)) = tables().find_map(|table| Some((table, rest_of(key, table)?))) {
        set_in(table, name, rest, value);
    } else if key == "allow_net" || key == "resolve" {
        let list = value.as_str().map(|v| v.split(',').map(|part| part.trim().into()).collect());
        set_in(table, "network", key, list.map_or(value, toml::Value::Array));
    } else if PLAIN.contains(&key) {
        table.insert(key.to_owned(), value);
    }
}

fn set_in(top: &mut toml::Table, table: &str, key: &str, value: toml::Value) {
    let inner = top.entry(table).or_insert_with(|| toml::Table::new().into());
    if let Some(inner) = inner.as_table_mut() {
        inner.insert(key.to_owned(), value);
    }
}

//! Settings: defaults, overridden by the file, the environment and flags, in this order. Read and checked once.

use crate::screening::ImageScreening;
use curlew_crawl::pages::judge::Judge;
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_fetcher::{Guard, HostPattern, ResolveRule};
use curlew_model::Millis;
use curlew_policy::address::HostGroups;
use curlew_policy::politeness::scope::{OwnHosts, Scope};
use curlew_policy::polling::subscription::is_private_enough;
use curlew_policy::rules::Rules;
use curlew_policy::site::exclusions::{Exclusions, Lists};
use curlew_screen::Screener;
use curlew_screen::image::{ImageClassifier, SkinRegions};
use curlew_web::PageSettings;
use ipnet::IpNet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

mod layers;
mod tables;

pub use layers::{Effective, Origin, with_paused};
use layers::{Environment, Layers, file_of};
use tables::{AdminPages, File, Limits, MetricsAccess, Network, Raw, Robots, Web};

/// Default of the product token by which robots.txt files address the crawler.
const TOKEN: &str = "CurlewBot";
/// Default of the number of concurrent visits.
const WORKERS: usize = 100;
/// Default of the minimum time between two publishings of new records.
const PUBLISH_EVERY: Millis = Millis::from_mins(10);
const PUBLISH_BOUNDS: RangeInclusive<Millis> = Millis::from_mins(1)..=Millis::from_days(1);
/// Maximum time for which raw pages may be kept, in days.
const MAX_RAW_DAYS: u32 = 3_650;
const MAX_WORKERS: usize = 1_000;
/// Local services that are never called: the Lambda runtime API, its extension for secrets, the X-Ray daemon.
const REFUSED_ENDPOINTS: [&str; 4] = ["127.0.0.1:9001", "127.0.0.1:2773", "localhost:2773", "127.0.0.1:2000"];
/// Table and key of settings for one machine: they name its files, or say how the program runs on it.
const OF_ONE_MACHINE: [(&str, &str); 4] = [("", "data"), ("", "log"), ("", "publish_every"), ("screen", "lists")];
/// Key of the settings of a stack, in its bucket; the object is the text of a settings file.
pub const STACK_SETTINGS: &str = "config/curlew.toml";
/// Prefix of the keys of the image model in the bucket of a stack; the names of its files follow.
pub const STACK_MODEL: &str = "model/";

/// Error about a setting that cannot be used: one line with the setting and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub String);

/// All settings, merged and checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the embedded store.
    pub data: PathBuf,
    /// Address at which a site's owner can reach the operator.
    pub contact: Option<String>,
    /// Maximum number of concurrent visits.
    pub workers: usize,
    /// Minimum time between two publishings of new records by `curlew serve`.
    pub publish_every: Millis,
    /// Format of log lines.
    pub log: LogForm,
    /// True if crawling is paused until these settings change.
    pub paused: bool,
    /// Product token by which robots.txt files address the crawler (RFC 9309 §2.2.1).
    pub token: String,
    /// User agent of calls for pages, images and robots.txt.
    pub page_agent: String,
    /// User agent of calls for feeds and home pages.
    pub feed_agent: String,
    /// Politeness settings.
    pub rules: Rules,
    /// Exceptions to the rule that each registrable domain is one host key.
    pub groups: HostGroups,
    /// Exclusions, and the hosts whose robots.txt or meta tags are ignored.
    pub scope: Scope,
    /// Rules for the addresses and URLs that may be called.
    pub guard: Guard,
    /// Name server for TXT records; `None` for the system's.
    pub name_server: Option<SocketAddr>,
    /// Limits of single calls.
    pub limits: Limits,
    /// Settings of raw pages.
    pub raw: Raw,
    /// Selects the requests to sign; `None` for no signatures.
    pub signatures: Option<SignatureMode>,
    /// Settings of the search page.
    pub web: Web,
    /// Settings of the metrics of `curlew serve`; `None` if they are off.
    pub metrics: Option<MetricsAccess>,
    /// Settings of the operator's pages.
    pub admin: AdminPages,
    /// Every setting that has a value, with the layer that decides it.
    pub effective: Vec<Effective>,
    /// Screener of pages; `None` for the built-in one.
    pub screener: Option<Arc<Screener>>,
    /// Choice of the image classifier.
    pub image: ImageScreening,
    /// Content policy by screener and image classifier. It has a cache, so it is built once.
    pub judge: Arc<Judge>,
    /// Flags and environment that the settings were read from.
    read_from: (Flags, Environment),
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Settings given on the command line, which override all others.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Path of the settings file.
    pub file: Option<PathBuf>,
    /// See [`Settings::data`].
    pub data: Option<PathBuf>,
    /// See [`Settings::contact`].
    pub contact: Option<String>,
    /// Address ranges that may be called although they are not public, in addition to those of the file.
    pub allow_net: Vec<IpNet>,
    /// Fixed addresses of hosts; take precedence over those of the file.
    pub resolve: Vec<ResolveRule>,
    /// See [`Settings::workers`].
    pub workers: Option<usize>,
    /// See [`Settings::log`].
    pub log: Option<LogForm>,
}

fn bad<T>(text: impl Into<String>) -> Result<T, BadSettings> {
    Err(BadSettings(text.into()))
}

impl Settings {
    /// Logs a warning for each kind of directive that is ignored on some hosts; for the start of a process.
    pub fn warn(&self) {
        let Scope { robots_ignored, meta_ignored, .. } = &self.scope;
        let ignored = [("robots.txt is", robots_ignored), ("robots meta tags and X-Robots-Tag are", meta_ignored)];
        for (what, hosts) in ignored.into_iter().filter(|(_, hosts)| !hosts.is_empty()) {
            tracing::warn!(%hosts, "{what} ignored on these hosts: the settings say that they are the operator's own");
        }
    }

    /// Reads the file, then the `CURLEW_…` variables, then the flags; later ones override. An error is one line.
    pub fn load(flags: &Flags, environment: impl Iterator<Item = (String, String)>) -> Result<Settings, BadSettings> {
        let environment = layers::environment(environment);
        Settings::from_layers(&Layers::read(flags, &environment)?, flags, &environment)
    }

    /// Returns the settings with `text` in place of the file. Errors call the text `name`.
    pub fn over_text(&self, name: &str, text: &str) -> Result<Settings, BadSettings> {
        let (flags, environment) = &self.read_from;
        Settings::from_layers(&Layers::read_text(name, text, environment)?, flags, environment)
    }

    /// Fails if a setting is only for one machine and not for a stack on AWS; the error names the first such setting.
    pub fn check_for_stack(&self) -> Result<(), BadSettings> {
        let is_of_one_machine = |setting: &&Effective| {
            let name = (setting.table.as_str(), setting.key.as_str());
            setting.origin == Origin::File && (OF_ONE_MACHINE.contains(&name) || matches!(name.0, "metrics" | "admin"))
        };
        if let Some(Effective { table, key, .. }) = self.effective.iter().find(is_of_one_machine) {
            let table = if table.is_empty() { String::new() } else { format!("[{table}] ") };
            return bad(format!("{table}{key} is for one machine: leave it out of the settings of a stack"));
        }
        let is_file = |s: &Effective| s.table == "screen" && s.key == "persons" && s.value.is_str();
        if self.effective.iter().any(is_file) {
            return bad("[screen] persons names a file, which is for one machine: \
                 write `persons = [{ name = \"…\" }]` into the settings of a stack");
        }
        if matches!(self.image, ImageScreening::Onnx(_)) {
            return bad("[screen]: image = \"onnx\" is for one machine");
        }
        Ok(())
    }

    /// True if the flags or the environment name a file.
    pub fn have_file(&self) -> bool {
        let (flags, environment) = &self.read_from;
        file_of(flags, environment).is_some()
    }

    fn from_layers(layers: &Layers, flags: &Flags, environment: &[(String, String)]) -> Result<Settings, BadSettings> {
        let read_from = (flags.clone(), environment.to_vec());
        Ok(Settings { effective: layers.effective(flags)?, read_from, ..merge(layers.merged()?, flags)? })
    }

    /// True if the operator's pages are served: as `enabled` says, or by default only on loopback without `base_url`.
    pub fn has_admin_pages(&self, is_loopback: bool) -> bool {
        self.admin.enabled.unwrap_or(is_loopback && self.web.base_url.is_none())
    }

    /// Returns the settings with an image classifier that the driver has built.
    #[must_use]
    pub fn with_eye(self, eye: Arc<dyn ImageClassifier>) -> Settings {
        Settings { judge: Arc::new(self.judge_with(eye)), ..self }
    }

    /// Returns the settings with a classifier, for a process that judges images alone; see [`Judge::awaiting_images`].
    #[must_use]
    pub fn with_only_eye(self, eye: Arc<dyn ImageClassifier>) -> Settings {
        Settings { judge: Arc::new(self.judge_with(eye).awaiting_images()), ..self }
    }

    fn judge_with(&self, eye: Arc<dyn ImageClassifier>) -> Judge {
        Judge::new(self.screener.clone(), Some(eye)).with_images_optional(self.judge.are_images_optional())
    }

    /// Returns the value of `[screen] image` if a value other than `auto` keeps an installed model from being used.
    pub fn image_in_place_of_model(&self) -> Option<String> {
        let setting = self.effective.iter().find(|setting| setting.table == "screen" && setting.key == "image")?;
        (setting.value.as_str() != Some("auto")).then(|| setting.value.to_string())
    }

    /// Returns our origin for hubs if WebSub is on: over https, or also http with `websub_without_tls`.
    pub fn hub_base(&self) -> Option<String> {
        self.private_base().filter(|_| self.rules.websub).map(|url| url.origin().ascii_serialization())
    }

    /// Returns our address, where sites find the signing keys: over https, or also http with `websub_without_tls`.
    pub fn signature_agent(&self) -> Option<Url> {
        self.private_base().filter(Url::has_host)
    }

    fn private_base(&self) -> Option<Url> {
        let base = self.web.base_url.as_deref().filter(|base| is_private_enough(base, &self.rules))?;
        Url::parse(base).ok()
    }

    /// Returns the settings of the web pages; `secret` signs their forms.
    pub fn pages(&self, secret: [u8; 32]) -> PageSettings {
        let usual = PageSettings::new(secret);
        PageSettings {
            title: self.web.title.clone().unwrap_or(usual.title),
            base_url: self.web.base_url.clone(),
            user_agent_token: self.token.clone(),
            user_agent: self.page_agent.clone(),
            contact: self.contact.clone(),
            signatures: self.signatures.filter(|_| self.signature_agent().is_some()),
            calm_forms_per_hour: self.web.calm_forms_per_hour.unwrap_or(usual.calm_forms_per_hour),
            searches_per_minute: self.web.searches_per_minute.map_or(usual.searches_per_minute, NonZeroU32::get),
            mcp: self.web.mcp,
            rules: self.rules.clone(),
            ..usual
        }
    }

    /// Returns the URL scheme for fetching proofs of ownership.
    pub fn proof_scheme(&self) -> &'static str {
        if self.web.proof_over_http { "http" } else { "https" }
    }
}

/// True if a text is a page's URL or a mail address, and is allowed in a user agent's comment.
fn is_contact(text: &str) -> bool {
    let fits = text.is_ascii() && !text.contains(|c: char| c.is_control() || c == '(' || c == ')');
    let is_page = || Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let is_domain = |text: &str| text.contains('.') && text.split('.').all(|label| !label.is_empty());
    let is_mail = || text.split_once('@').is_some_and(|(name, domain)| !name.is_empty() && is_domain(domain));
    fits && (is_page() || is_mail())
}

fn merge(file: File, flags: &Flags) -> Result<Settings, BadSettings> {
    file.rules.check().or_else(|why| bad(format!("[rules]: {why}")))?;
    let workers = flags.workers.or(file.workers).unwrap_or(WORKERS);
    if workers == 0 || workers > MAX_WORKERS {
        return bad(format!("workers must be from 1 to {MAX_WORKERS}"));
    }
    let publish_every = file.publish_every.unwrap_or(PUBLISH_EVERY);
    if !PUBLISH_BOUNDS.contains(&publish_every) {
        return bad("publish_every must be from a minute to a day");
    }
    let log = match (flags.log, file.log.as_deref()) {
        (Some(form), _) => form,
        (None, None | Some("text")) => LogForm::Text,
        (None, Some("json")) => LogForm::Json,
        (None, Some(other)) => return bad(format!("log must be 'text' or 'json', not '{other}'")),
    };
    if file.raw.days == 0 || file.raw.days > MAX_RAW_DAYS {
        return bad(format!("[raw] days must be from 1 to {MAX_RAW_DAYS}"));
    }
    let contact = flags.contact.clone().or(file.contact).filter(|c| !c.trim().is_empty());
    if let Some(c) = contact.as_ref().filter(|c| !is_contact(c)) {
        let why = "is neither a URL nor a mail address: write one such as you@example.org";
        return bad(format!("the contact '{c}' {why}"));
    }
    let token = file.agent.name.unwrap_or_else(|| TOKEN.to_owned());
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-') {
        return bad(format!("the agent's name '{token}' may have letters, '-' and '_' only (RFC 9309)"));
    }
    let agent = |role: Option<&str>| {
        let reach = contact.as_ref().map(|contact| format!("+{contact}"));
        let comment: Vec<String> = role.map(str::to_owned).into_iter().chain(reach).collect();
        let comment = if comment.is_empty() { String::new() } else { format!(" ({})", comment.join("; ")) };
        format!("{token}/{}{comment}", env!("CARGO_PKG_VERSION"))
    };
    let page_agent = file.agent.pages.unwrap_or_else(|| agent(None));
    let feed_agent = file.agent.feeds.unwrap_or_else(|| agent(Some("feeds")));
    for named in [&page_agent, &feed_agent] {
        // A site must find the name that it blocks in robots.txt also in its log (RFC 9309 §2.2.1).
        if !named.contains(&token) {
            return bad(format!("the user agent '{named}' does not contain the name '{token}'"));
        }
    }
    file.admin.check(&file.web)?;
    let data = flags.data.clone().or(file.data).unwrap_or_else(|| PathBuf::from("curlew-data"));
    let (screener, image) = (file.screen.screener()?, file.screen.image(&data)?);
    let eye = (image == ImageScreening::Skin).then(|| Arc::new(SkinRegions) as Arc<dyn ImageClassifier>);
    Ok(Settings {
        data,
        contact,
        workers,
        publish_every,
        log,
        paused: file.paused.unwrap_or_default(),
        token,
        page_agent,
        feed_agent,
        rules: file.rules,
        groups: file.hosts,
        scope: scope(&file.exclude, &file.robots)?,
        name_server: file.network.name_server,
        guard: guard(file.network, flags)?,
        limits: file.limits,
        raw: file.raw,
        signatures: file.signatures.mode()?,
        web: file.web,
        metrics: file.metrics.access()?,
        admin: file.admin,
        effective: Vec::new(),
        read_from: Default::default(),
        judge: Arc::new(Judge::new(screener.clone(), eye).with_images_optional(file.pages.are_images_optional()?)),
        image,
        screener,
    })
}

fn scope(exclude: &Lists, robots: &Robots) -> Result<Scope, BadSettings> {
    let own =
        |key: &str, list: &[String]| OwnHosts::read(list).map_err(|why| BadSettings(format!("[robots] {key}: {why}")));
    Ok(Scope {
        exclusions: Exclusions::compile(exclude).map_err(|why| BadSettings(format!("[exclude] {why}")))?,
        robots_ignored: own("ignored_hosts", &robots.ignored_hosts)?,
        meta_ignored: own("meta_ignored_hosts", &robots.meta_ignored_hosts)?,
    })
}

fn guard(network: Network, flags: &Flags) -> Result<Guard, BadSettings> {
    let usual = Guard::default();
    // Flags come first, because the first matching rule decides.
    let mut resolve = flags.resolve.clone();
    for rule in &network.resolve {
        resolve.push(rule.parse().map_err(|e| BadSettings(format!("resolve: {e}")))?);
    }
    let own_hosts = network.own_hosts.iter().map(|host| host.parse::<HostPattern>());
    Ok(Guard {
        ports: network.ports.unwrap_or(usual.ports),
        refused_endpoints: REFUSED_ENDPOINTS.iter().filter_map(|e| e.parse().ok()).collect(),
        allow_nets: [network.allow_net, flags.allow_net.clone()].concat(),
        own_hosts: own_hosts.collect::<Result<_, _>>().map_err(|e| BadSettings(format!("own_hosts: {e}")))?,
        resolve,
    })
}

#[cfg(test)]
mod tests;

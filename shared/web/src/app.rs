//! State that the handlers share.

use crate::assets::style_version;
use crate::kept_status::KeptStatus;
use crate::language::Language;
use crate::page::Site;
use crate::page_settings::PageSettings;
use crate::quota::{CallerKey, Quota};
use crate::services::Services;
use crate::settings::{OperatorContact, is_personal, origin};
use crate::token::Spent;
use crate::words::Frame;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use curlew_model::Millis;
use curlew_ports::Clock;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls of hubs that one address may make a minute; one hub announces updates of many feeds.
const DELIVERIES_PER_MINUTE: u32 = 600;
/// Forms that one address may send a minute during a rush.
const RUSH_FORMS_PER_MINUTE: u32 = 1;
/// Messages that one address may send a day, out of the daily number for all.
const MESSAGES_PER_DAY: u32 = 5;
/// Sites that one address may suggest a day, out of the daily number for all.
const SUGGESTIONS_PER_DAY: u32 = 20;
/// Searches for proofs that one address may request a day.
const LOOKS_PER_DAY: u32 = 30;
/// Searches for proofs a minute, for all callers together: each may query a name server of the caller's choice.
const LOOKS_PER_MINUTE: u32 = 60;
/// Subscriptions to our feeds a minute whose callbacks are on one host key: each causes a call of it.
const SUBSCRIPTIONS_PER_MINUTE: u32 = 5;
/// Calls of a host for proofs that one address may cause in a day: half of the host's daily number.
const CALLS_PER_DAY: u32 = 6;

/// The address of the caller, which the outer shell sets as a request extension: from [`crate::Proxies`], or on Lambda
/// from `requestContext.http.sourceIp`. `None` if it cannot be known; all such callers share one allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(pub Option<IpAddr>);

/// True if a request came from the address of a proxy that the operator trusts, so that the proxy wrote its headers. The
/// outer shell sets it as a request extension; without it no header is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThroughProxy(pub bool);

/// State that the handlers share.
pub(crate) struct App {
    pub(crate) services: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: PageSettings,
    /// Our own origin, if it is configured.
    pub(crate) origin: Option<String>,
    /// True if, by the settings, the pages are reached from this machine alone: callers on loopback are then its user.
    /// With a public address, they may be anybody whom an undeclared proxy passes on.
    pub(crate) is_personal: bool,
    /// The operator's contact, if it is configured.
    pub(crate) contact: Option<OperatorContact>,
    /// Counter for the serial numbers of this process's forms.
    pub(crate) serial: AtomicU64,
    /// Tokens that have been used.
    pub(crate) spent: Mutex<Spent>,
    pub(crate) status: Arc<KeptStatus>,
    searches: Mutex<Quota>,
    forms: Mutex<Quota>,
    rush_forms: Mutex<Quota>,
    deliveries: Mutex<Quota>,
    messages: Mutex<Quota>,
    suggestions: Mutex<Quota>,
    looks: Mutex<Quota>,
    calls: Mutex<Quota>,
    subscriptions: Mutex<Quota>,
}

impl App {
    pub(crate) fn new(services: Services, settings: PageSettings) -> App {
        App {
            is_personal: is_personal(&settings),
            origin: origin(&settings),
            contact: settings.contact.as_deref().and_then(OperatorContact::of),
            serial: AtomicU64::new(0),
            spent: Mutex::default(),
            status: KeptStatus::new(services.status.clone(), services.clock.clone()),
            searches: Mutex::new(Quota::a_minute(settings.searches_per_minute)),
            forms: Mutex::new(Quota::a_minute(settings.forms_per_minute)),
            rush_forms: Mutex::new(Quota::a_minute(RUSH_FORMS_PER_MINUTE)),
            deliveries: Mutex::new(Quota::a_minute(DELIVERIES_PER_MINUTE)),
            messages: Mutex::new(Quota::a_day(MESSAGES_PER_DAY)),
            suggestions: Mutex::new(Quota::a_day(SUGGESTIONS_PER_DAY)),
            looks: Mutex::new(Quota::a_day(LOOKS_PER_DAY).of_all_a_minute(LOOKS_PER_MINUTE)),
            calls: Mutex::new(Quota::a_day(CALLS_PER_DAY)),
            subscriptions: Mutex::new(Quota::a_minute(SUBSCRIPTIONS_PER_MINUTE)),
            clock: services.clock.clone(),
            services,
            settings,
        }
    }

    /// Returns the data that every page shows, in a language.
    pub(crate) fn site(&self, language: Language) -> Site<'_> {
        let opensearch = self.origin.is_some();
        Site { title: &self.settings.title, opensearch, style: style_version(), language, t: Frame::of(language) }
    }

    /// True if the pages are for the user of this machine, who reaches them by names of its own alone. Then neither names
    /// nor pages of others may lead to what is found here.
    pub(crate) fn has_own_names_only(&self) -> bool {
        self.is_personal && !self.settings.any_host
    }

    /// Takes a search from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_search(&self, from: From) -> Result<(), Millis> {
        if self.is_personal && from.0.is_some_and(|ip| ip.to_canonical().is_loopback()) {
            return Ok(());
        }
        held(&self.searches).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a form from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_form(&self, from: From) -> Result<(), Millis> {
        held(&self.forms).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a form during a rush from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_rush_form(&self, from: From) -> Result<(), Millis> {
        held(&self.rush_forms).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a call of a hub from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_hub(&self, from: From) -> Result<(), Millis> {
        held(&self.deliveries).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a message from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_message(&self, from: From) -> Result<(), Millis> {
        held(&self.messages).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a suggested site from the caller's allowance, or returns the time to wait.
    pub(crate) fn admit_suggestion(&self, from: From) -> Result<(), Millis> {
        held(&self.suggestions).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a search for a proof from the caller's allowance and that of all callers, or returns the time to wait.
    pub(crate) fn admit_look(&self, from: From) -> Result<(), Millis> {
        held(&self.looks).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a subscription from the allowance of its callback's host key, or returns the time to wait.
    pub(crate) fn admit_subscription(&self, host: &str) -> Result<(), Millis> {
        held(&self.subscriptions).take(CallerKey::of_host(host), self.clock.monotonic())
    }

    /// True if a caller may have a host called for a proof; takes it from the caller's allowance for that host.
    pub(crate) fn admit_call(&self, from: From, host: &str) -> bool {
        held(&self.calls).take(self.key(from).with_host(host), self.clock.monotonic()).is_ok()
    }

    /// Returns the key under which a caller's allowances are kept.
    pub(crate) fn key(&self, from: From) -> CallerKey {
        CallerKey::of(&self.settings.secret, from.0, self.clock.now())
    }
}

/// Locks data that only this crate changes, in steps that leave it valid even if one of them panics.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Address of a request's caller, if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From(pub(crate) Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<From, Infallible> {
        Ok(From(parts.extensions.get::<Caller>().and_then(|caller| caller.0)))
    }
}

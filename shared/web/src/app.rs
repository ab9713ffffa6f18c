//! What the handlers share.

use crate::assets::style_version;
use crate::language::Language;
use crate::page::Site;
use crate::page_settings::PageSettings;
use crate::quota::{self, Quota};
use crate::services::Services;
use crate::settings::{OperatorContact, is_personal, origin};
use crate::system_status::SystemStatus;
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

/// Calls of hubs that one address may make a minute: one hub tells of many feeds.
const DELIVERIES_PER_MINUTE: u32 = 600;
/// Forms that one address may send a minute without work while many are sent.
const UNWORKED_PER_MINUTE: u32 = 1;

/// Messages that one address may send a day, of the number that is taken of all.
const MESSAGES_PER_DAY: u32 = 5;
/// Looks for proofs a minute, of all callers together: each may be a question to a name server of the caller's choice.
const LOOKS_PER_MINUTE: u32 = 60;
/// Looks for proofs that one address may have a host called for in a day, half of those that the host is called for at all.
const CALLS_PER_DAY: u32 = 6;

/// The address of the caller, set as a request extension by the outer shell: [`crate::Proxies`] tell it, or on Lambda
/// `requestContext.http.sourceIp`. `None` if it cannot be known; all such callers share one allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(pub Option<IpAddr>);

/// What the handlers share.
pub(crate) struct App {
    pub(crate) services: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: PageSettings,
    /// Our own origin, if it is configured.
    pub(crate) origin: Option<String>,
    /// The pages are reached from this machine alone, as far as the settings say: callers on loopback are its user. With an
    /// address for the public, they may be anybody whom a proxy passes on without saying so.
    is_personal: bool,
    /// Where to write to, if it is configured.
    pub(crate) contact: Option<OperatorContact>,
    /// Numbers the forms of this process.
    pub(crate) serial: AtomicU64,
    /// Tokens that were used.
    pub(crate) spent: Mutex<Spent>,
    /// What the status was when it was gathered last, by the clock that never jumps.
    pub(crate) status: Mutex<Option<(Millis, Arc<SystemStatus>)>>,
    searches: Mutex<Quota>,
    forms: Mutex<Quota>,
    unworked: Mutex<Quota>,
    deliveries: Mutex<Quota>,
    messages: Mutex<Quota>,
    looks: Mutex<Quota>,
    calls: Mutex<Quota>,
}

impl App {
    pub(crate) fn new(services: Services, settings: PageSettings) -> App {
        App {
            is_personal: is_personal(&settings),
            origin: origin(&settings),
            contact: settings.contact.as_deref().and_then(OperatorContact::of),
            serial: AtomicU64::new(0),
            spent: Mutex::default(),
            status: Mutex::default(),
            searches: Mutex::new(Quota::a_minute(settings.searches_per_minute)),
            forms: Mutex::new(Quota::a_minute(settings.forms_per_minute)),
            unworked: Mutex::new(Quota::a_minute(UNWORKED_PER_MINUTE)),
            deliveries: Mutex::new(Quota::a_minute(DELIVERIES_PER_MINUTE)),
            messages: Mutex::new(Quota::a_day(MESSAGES_PER_DAY)),
            looks: Mutex::new(Quota::a_minute(LOOKS_PER_MINUTE)),
            calls: Mutex::new(Quota::a_day(CALLS_PER_DAY)),
            clock: services.clock.clone(),
            services,
            settings,
        }
    }

    /// What every page shows, in a language.
    pub(crate) fn site(&self, language: Language) -> Site<'_> {
        let opensearch = self.origin.is_some();
        Site { title: &self.settings.title, opensearch, style: style_version(), language, t: Frame::of(language) }
    }

    /// Takes a search of the caller's allowance, or says how long to wait.
    pub(crate) fn admit_search(&self, from: From) -> Result<(), Millis> {
        if self.is_personal && from.0.is_some_and(|ip| ip.to_canonical().is_loopback()) {
            return Ok(());
        }
        held(&self.searches).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a form of the caller's allowance, or says how long to wait.
    pub(crate) fn admit_form(&self, from: From) -> Result<(), Millis> {
        held(&self.forms).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a form without work, while many are sent, of the caller's allowance, or says how long to wait.
    pub(crate) fn admit_unworked(&self, from: From) -> Result<(), Millis> {
        held(&self.unworked).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a call of a hub of the caller's allowance, or says how long to wait.
    pub(crate) fn admit_hub(&self, from: From) -> Result<(), Millis> {
        held(&self.deliveries).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a message of the caller's allowance, or says how long to wait.
    pub(crate) fn admit_message(&self, from: From) -> Result<(), Millis> {
        held(&self.messages).take(self.key(from), self.clock.monotonic())
    }

    /// Takes a look for a proof of everybody's allowance, or says how long to wait.
    pub(crate) fn admit_look(&self) -> Result<(), Millis> {
        held(&self.looks).take(0, self.clock.monotonic())
    }

    /// True if a caller may have a host called for a proof, which is taken of the caller's allowance for that host.
    pub(crate) fn admit_call(&self, from: From, host: &str) -> bool {
        held(&self.calls).take(quota::key_for(self.key(from), host), self.clock.monotonic()).is_ok()
    }

    fn key(&self, from: From) -> u64 {
        quota::key(&self.settings.secret, from.0, self.clock.now())
    }
}

/// Locks what only this crate changes, in steps that leave it whole even if one of them panics.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a request came from, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From(pub(crate) Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<From, Infallible> {
        Ok(From(parts.extensions.get::<Caller>().and_then(|caller| caller.0)))
    }
}

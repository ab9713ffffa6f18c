//! Checks robots.txt: uses the stored copy while it is fresh, and requests the file otherwise.

use super::*;
use bytes::Bytes;
use curlew_model::{FailureCause, RobotsNotes};
use curlew_policy::address;
use curlew_policy::politeness::robots_notes;
use curlew_policy::robots::{self, Fetched, MAX_AGE, Standing};
use curlew_policy::rules::ROBOTS_REDIRECTS;
use curlew_ports::RobotsCopy;

/// Size in bytes above which rules are matched in the CPU pool.
const LONG_RULES: usize = 64 * 1024;

impl Visit {
    /// Returns whether robots.txt allows a URL of this host key, or why the file could not be fetched now.
    pub(crate) async fn permission(&mut self, url: &Url) -> Result<Result<Permission, CallEnd>> {
        let origin = match address::origin(url) {
            Ok(origin) => origin,
            Err(why) => return Ok(Err(CallEnd::Rejected(Rejection::Address(why.to_string())))),
        };
        if self.politeness.scope.robots_ignored.contains(url) {
            if self.compiled.insert(origin.clone(), Arc::default()).is_none() {
                tracing::warn!(
                    %origin,
                    "robots.txt is not asked: the settings say that this site is the operator's own"
                );
            }
            return Ok(Ok(Permission::Allowed));
        }
        let rules = match self.compiled.get(&origin) {
            Some(rules) => rules.clone(),
            None => match self.rules(&origin, url).await? {
                Ok(rules) => rules,
                Err(end) => return Ok(Err(end)),
            },
        };
        let permission = self.decided(&rules, url).await?;
        self.state.learn_crawl_delay(rules.crawl_delay(), &self.politeness.rules);
        Ok(Ok(permission))
    }

    /// Returns true if cached or stored rules allow a URL of this host key. Makes no call.
    pub(crate) async fn is_allowed_without_call(&mut self, url: &Url) -> Result<bool> {
        let Ok(origin) = address::origin(url) else { return Ok(false) };
        let (ours, now) = (&self.politeness, self.politeness.clock.now());
        let is_at_hand = ours.scope.robots_ignored.contains(url)
            || self.compiled.contains_key(&origin)
            || ours.known.get(&origin, now).is_some()
            || self.stored(&origin).await?.is_some_and(|copy| ours.is_fresh(&copy));
        Ok(is_at_hand && matches!(self.permission(url).await?, Ok(Permission::Allowed)))
    }

    /// Returns whether the rules allow a URL. Rules that take too long to match forbid it.
    async fn decided(&self, rules: &Arc<Robots>, url: &Url) -> Result<Permission> {
        let bytes = rules.bytes_to_match();
        let checked = if bytes <= LONG_RULES {
            Some(rules.check(url))
        } else {
            let (rules, url) = (rules.clone(), url.clone());
            parsed(self.politeness.pool.as_ref(), bytes, move || rules.check(&url)).await?.ok()
        };
        Ok(match checked {
            Some(decision) if decision.allowed => Permission::Allowed,
            Some(decision) if decision.second == Some(false) => {
                tracing::info!(%url, "the second matcher alone says that robots.txt forbids a URL");
                Permission::Doubted
            }
            _ => Permission::Forbidden,
        })
    }

    /// Returns the rules of an origin from the cache, the store or a request; or the reason why there are none.
    async fn rules(&mut self, origin: &Origin, url: &Url) -> Result<Result<Arc<Robots>, CallEnd>> {
        let now = self.politeness.clock.now();
        if let Some(rules) = self.politeness.known.get(origin, now) {
            self.compiled.insert(origin.clone(), rules.clone());
            return Ok(Ok(rules));
        }
        let stored = self.stored(origin).await?;
        let copy = match stored {
            Some(copy) if self.politeness.is_fresh(&copy) => copy,
            old => match self.ask(url, old.clone()).await? {
                Ok(copy) => {
                    if !old.is_some_and(|old| self.notes_unchanged(origin, &old, &copy)) {
                        self.politeness.robots.put(origin, &copy).await?;
                    }
                    copy
                }
                Err(end) => return Ok(Err(end)),
            },
        };
        if standing(&copy.standing) == Standing::DisallowAll {
            // A refused file (401, 403) forbids every call, but it names no page, so the pages that wait for it are not
            // rejected at once.
            self.without_robots("robots.txt is refused to the crawler (401 or 403), so nothing is called");
            return Ok(Err(CallEnd::Refused(copy.fresh_until)));
        }
        let Some(rules) = self.compile(&copy, now).await? else {
            return Ok(Err(self.unreachable(origin, &copy)));
        };
        if standing(&copy.standing) == Standing::Unreachable {
            tracing::info!(%origin, since = %copy.body_at, "robots.txt is out of reach; the older copy stands in");
        }
        self.politeness.known.keep(origin, rules.clone(), copy.fresh_until);
        self.compiled.insert(origin.clone(), rules.clone());
        Ok(Ok(rules))
    }

    async fn stored(&self, origin: &Origin) -> Result<Option<RobotsCopy>> {
        let copy = self.politeness.robots.get(origin).await?;
        Ok(copy.map(|copy| with_note(copy, origin, &self.state.learned.robots)))
    }

    /// Records in the host key's row that a new copy equals the stored one; returns false if the copy must be written.
    fn notes_unchanged(&mut self, origin: &Origin, old: &RobotsCopy, new: &RobotsCopy) -> bool {
        let RobotsCopy { body_at, fetched_at, fresh_until, .. } = *old;
        let is_usual = matches!(standing(&new.standing), Standing::Rules | Standing::AllowAll)
            && new.fresh_until == new.fetched_at + MAX_AGE;
        is_usual
            && RobotsCopy { body_at, fetched_at, fresh_until, ..new.clone() } == *old
            && self.state.note_unchanged_robots(origin, old.fetched_at, new.fetched_at)
    }

    /// Returns the rules for a URL that was just fetched by this visit, another process or a guest visit.
    pub(crate) async fn robots_at_hand(&self, url: &Url) -> Result<Arc<Robots>> {
        let Ok(origin) = address::origin(url) else { return Ok(Arc::default()) };
        let now = self.politeness.clock.now();
        let known = self.compiled.get(&origin).cloned().or_else(|| self.politeness.known.get(&origin, now));
        let rules = match known {
            Some(rules) => Some(rules),
            None => match self.politeness.robots.get(&origin).await? {
                Some(copy) => self.compile(&copy, now).await?,
                None => None,
            },
        };
        Ok(rules.unwrap_or_default())
    }

    async fn compile(&self, copy: &RobotsCopy, now: Timestamp) -> Result<Option<Arc<Robots>>> {
        Ok(compile(self.politeness.pool.as_ref(), copy, &self.politeness.token, now).await?.map(Arc::new))
    }

    /// Returns the end of a call whose robots.txt is unreachable, with no older copy to stand in.
    fn unreachable(&mut self, origin: &Origin, copy: &RobotsCopy) -> CallEnd {
        self.without_robots("robots.txt is out of reach, so nothing is called");
        if copy.body_at > Timestamp::MIN {
            tracing::warn!(
                %origin,
                since = %copy.body_at,
                "robots.txt is out of reach for more than 30 days; nothing is called"
            );
        }
        match &self.state.learned.hold {
            Some(hold) => CallEnd::Held(hold.until, hold.reason),
            // Other URLs of the visit may have other origins, so only this URL waits, and its deferrals are counted.
            None => CallEnd::Elsewhere(copy.fresh_until),
        }
    }

    /// Records why nothing is called, unless a failed call of this visit has given a better reason.
    fn without_robots(&mut self, why: &str) {
        self.failure.get_or_insert_with(|| Failure::new(FailureCause::RobotsUnavailable, why));
    }

    async fn ask(&mut self, url: &Url, old: Option<RobotsCopy>) -> Result<Result<RobotsCopy, CallEnd>> {
        let validators = old.as_ref().map(|c| c.validators.clone()).unwrap_or_default();
        let Some(file) = robots::robots_url(url) else {
            let why = Rejection::Address("the scheme is neither http nor https".into());
            return Ok(Err(CallEnd::Rejected(why)));
        };
        let mut chain = self.state.chain(&file, ROBOTS_REDIRECTS, self.politeness.clock.now());
        loop {
            let here = chain.current().clone();
            let first = chain.hops() == 0;
            let sent = if first { validators.clone() } else { Validators::default() };
            let end = self.hop(&here, CallKind::Robots, &sent, Some(Permission::Allowed)).await?;
            let now = self.politeness.clock.now();
            let reply = match end {
                CallEnd::Reply(reply) => reply,
                CallEnd::Rejected(Rejection::Address(_) | Rejection::Blocked | Rejection::Excluded(_)) if !first => {
                    return Ok(Ok(kept(old, &Fetched::RefusedHop, None, now)));
                }
                CallEnd::Held(..) | CallEnd::Rejected(Rejection::Limit(_) | Rejection::Transport(_)) => {
                    return Ok(Ok(kept(old, &Fetched::Unreachable, None, now)));
                }
                end => {
                    self.state.after_chain(&chain, &end, now);
                    return Ok(Err(end));
                }
            };
            let wall = self.interstitial_in(&reply, &here).await?;
            if let Some(vendor) = wall {
                self.hold_interstitial(vendor, &here);
            }
            let is_page = reply.status == 200 && is_html(&reply.body);
            // A bot wall says nothing about the rules, and neither does an HTML page in place of the rules, as long as
            // the older copy may stand in.
            if wall.is_some() || (is_page && old.as_ref().is_some_and(|old| stands_in(old, now))) {
                return Ok(Ok(kept(old, &Fetched::Unreachable, None, now)));
            }
            let is_answer = !is_redirect(reply.status);
            let fetched = match reply.status {
                status if !is_answer => match chain.follow(status, reply.headers.location.as_deref()) {
                    Ok(_) => continue,
                    Err(NotFollowed::TooMany | NotFollowed::Circle) => Fetched::TooManyRedirects,
                    Err(NotFollowed::NoLocation) => Fetched::Status(status),
                    // The redirect leads to an address that must not be called, which is no permission.
                    Err(NotFollowed::BadLocation(_)) => Fetched::RefusedHop,
                },
                200 => Fetched::Success { body: &reply.body },
                304 if old.as_ref().is_some_and(|old| !old.validators.is_empty()) => Fetched::NotModified,
                // The request had no validators, so a 304 is a fault of the server, and no fault may end in permission.
                304 => Fetched::Unreachable,
                other => Fetched::Status(other),
            };
            let mut copy = kept(old, &fetched, is_answer.then_some(&*reply), now);
            if !first && reply.status == 200 {
                // The validators belong to the redirect's target, and the next request goes to the origin's own file.
                copy.validators = Validators::default();
            }
            return Ok(Ok(copy));
        }
    }
}

fn stands_in(old: &RobotsCopy, now: Timestamp) -> bool {
    !old.body.is_empty() && !is_html(&old.body) && robots::stands_in(old.body_at, now)
}

/// Returns the copy to store. An older body outlives failures, since it may stand in for the file.
fn kept(old: Option<RobotsCopy>, fetched: &Fetched<'_>, reply: Option<&Reply>, now: Timestamp) -> RobotsCopy {
    let standing = robots::classify(fetched);
    let cache_control = reply.and_then(|r| r.headers.cache_control.as_deref());
    let age = reply.and_then(|r| r.headers.age.as_deref()).and_then(|a| a.trim().parse().ok());
    let old_body = old.map(|o| (o.body, o.body_at, o.validators));
    let (body, body_at, validators) = match (fetched, reply) {
        (Fetched::Success { .. }, Some(r)) => (r.body.clone(), now, r.headers.validators.clone()),
        (Fetched::NotModified, _) => {
            let (body, _, validators) = old_body.unwrap_or((Bytes::new(), now, Validators::default()));
            (body, now, validators)
        }
        _ => old_body.unwrap_or((Bytes::new(), Timestamp::MIN, Validators::default())),
    };
    RobotsCopy {
        standing: standing.as_str().to_owned(),
        body,
        body_at,
        fetched_at: now,
        fresh_until: robots::fresh_until(standing, cache_control, age, now),
        validators,
    }
}

/// Returns a stored copy, fresh and with rules valid for as long as the note in its host key's row says.
fn with_note(copy: RobotsCopy, origin: &Origin, notes: &RobotsNotes) -> RobotsCopy {
    let Some(noted) = robots_notes::unchanged_until(notes, origin, copy.fetched_at) else { return copy };
    let has_rules = standing(&copy.standing) == Standing::Rules;
    let body_at = if has_rules { copy.body_at.max(noted - MAX_AGE) } else { copy.body_at };
    RobotsCopy { fresh_until: copy.fresh_until.max(noted), body_at, ..copy }
}

/// Returns a stored copy with the time of the file's last request, according to the notes in the host key's row.
pub fn as_last_asked(copy: RobotsCopy, origin: &Origin, notes: &RobotsNotes) -> RobotsCopy {
    let asked_at = robots_notes::unchanged_until(notes, origin, copy.fetched_at).map(|until| until - MAX_AGE);
    let fetched_at = asked_at.unwrap_or(copy.fetched_at);
    RobotsCopy { fetched_at, ..with_note(copy, origin, notes) }
}

/// Returns the rules to obey; `None` if the file is unreachable and no older copy may stand in, so nothing may be
/// called. A file that overruns its limit counts as unreachable (RFC 9309 §2.3.1.4).
pub async fn compile(pool: &dyn CpuPool, copy: &RobotsCopy, token: &str, now: Timestamp) -> Result<Option<Robots>> {
    let (copy, token) = (copy.clone(), token.to_owned());
    let compiled = parsed(pool, copy.body.len(), move || rules_of(&copy, &token, now)).await?;
    Ok(compiled.unwrap_or_else(|overrun| {
        tracing::warn!(reason = %overrun, "a robots.txt cannot be read; nothing is called");
        None
    }))
}

fn rules_of(copy: &RobotsCopy, token: &str, now: Timestamp) -> Option<Robots> {
    match standing(&copy.standing) {
        Standing::Rules => Some(Robots::parse(&copy.body, token)),
        Standing::AllowAll => Some(Robots::default()),
        Standing::DisallowAll => Some(Robots::disallow_all()),
        Standing::Unreachable => robots::stands_in(copy.body_at, now).then(|| Robots::parse(&copy.body, token)),
    }
}

/// Parses a stored word; an unknown word counts as unreachable, never as permission.
fn standing(word: &str) -> Standing {
    Standing::ALL.into_iter().find(|standing| standing.as_str() == word).unwrap_or(Standing::Unreachable)
}

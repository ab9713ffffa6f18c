//! Overrides: the operator allows or denies a page or a site, regardless of the content policy.
//!
//! All overrides are in one small object, which [`curlew_crawl::pages::judge::Judge::rules`] reads at most once a
//! minute. A new override is also applied to pages judged before: they are removed, or fetched again.

use crate::audit_log::{Act, AuditLog};
use crate::block::first_visits;
use crate::objects;
use curlew_catalog::removal::Removal;
use curlew_crawl::pages::judge::RULES_KNOWN_FOR;
use curlew_crawl::pages::overrides::{KEY, OverrideList, StoredOverride, about, all, host_of};
use curlew_model::{Gone, Page, PageId, PageState, Rejection, Screened};
use curlew_policy::address;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Pages, Queue, swapped};
use curlew_screen::{Override, Scope, Topic, Verdict};
use serde::Serialize;
use std::sync::Arc;
use url::Url;

/// Maximum number of overrides, since all of them are read together.
const MAX_OVERRIDES: usize = 2_000;
/// Maximum length of a note, in bytes.
const MAX_NOTE: usize = 500;
const LIST: usize = 500;

/// Returns the names of the topics to which an override may be limited.
pub fn topic_names() -> impl Iterator<Item = &'static str> {
    Topic::ALL.iter().map(|topic| topic.as_str())
}

/// Returns the topics with these names; fails if a name is unknown.
pub fn topics_named(names: &[String]) -> Result<Vec<Topic>> {
    let topic = |name: &String| {
        let known = || topic_names().collect::<Vec<_>>().join(", ");
        Topic::named(name).ok_or_else(|| StageError::Job(format!("there is no topic '{name}'; there are {}", known())))
    };
    names.iter().map(topic).collect()
}

/// Effect of giving an override or taking it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OverrideEffect {
    /// Number of indexed pages that were removed.
    pub removed: u64,
    /// Number of rejected pages that are fetched again.
    pub taken_up: u64,
}

/// Adds, lists and removes overrides.
pub struct Overrides {
    pub(crate) pages: Arc<dyn Pages>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) removal: Removal,
    /// The audit log; its store and clock are also those of the overrides.
    pub(crate) log: AuditLog,
}

impl Overrides {
    /// Returns the scope of an override for a target: a page (by its whole URL) or a site (by its host).
    pub async fn scope(&self, target: &str) -> Result<Scope> {
        let bad = |why: String| StageError::Job(format!("'{target}' is neither a host nor a page's whole URL: {why}"));
        if !target.contains("://") {
            if target.contains('/') {
                return Err(bad("a page is named with its https://".to_owned()));
            }
            let url = address::parse_typed(target).map_err(|e| bad(e.to_string()))?;
            return Ok(Scope::Site(url.host_str().unwrap_or_default().to_owned()));
        }
        let url = address::canonical(&address::parse(target, None).map_err(|e| bad(e.to_string()))?);
        let row = self.pages.get(&address::page_id(&url)).await?.map(|(row, _)| row);
        // A page is judged under its stored address, so an alias is replaced by its page.
        let Some(Page { state: PageState::Alias { of }, .. }) = &row else { return Ok(Scope::Page(url.into())) };
        Ok(Scope::Page(self.pages.get(of).await?.map_or_else(|| url.into(), |(page, _)| page.url)))
    }

    /// Adds an override, replacing one of the same scope, and applies it to judged pages. May be repeated.
    pub async fn give(
        &self,
        by: &str,
        scope: &Scope,
        verdict: Verdict,
        topics: Vec<Topic>,
        note: Option<String>,
    ) -> Result<OverrideEffect> {
        if note.as_ref().is_some_and(|note| note.len() > MAX_NOTE) {
            return Err(StageError::Job(format!("the note is longer than {MAX_NOTE} bytes")));
        }
        let now = self.log.clock.now();
        let given = StoredOverride { rule: Override { scope: scope.clone(), verdict, topics, note }, at: now };
        let change = |all: &mut Vec<StoredOverride>| {
            all.retain(|old| old.rule.scope != *scope);
            all.push(given.clone());
        };
        self.change(by, &given.rule, if verdict == Verdict::Pass { "allow" } else { "deny" }, change).await
    }

    /// Removes an override, and returns it with the effect; `None` if there is no override of this scope. Pages denied
    /// only by this override are fetched again; all other pages stay. May be repeated after an error.
    pub async fn take_back(&self, by: &str, scope: &Scope) -> Result<Option<(StoredOverride, OverrideEffect)>> {
        let known = self.list().await?;
        let Some(old) = known.into_iter().find(|given| given.rule.scope == *scope) else { return Ok(None) };
        let change = |all: &mut Vec<StoredOverride>| all.retain(|old| old.rule.scope != *scope);
        let effect = self.change(by, &old.rule, "taken_back", change).await?;
        Ok(Some((old, effect)))
    }

    /// Returns all overrides, oldest first.
    pub async fn list(&self) -> Result<Vec<StoredOverride>> {
        Ok(all(self.log.blobs.as_ref()).await?)
    }

    /// Changes the list of overrides, with an entry in the audit log.
    async fn change(
        &self,
        by: &str,
        rule: &Override,
        reason: &str,
        change: impl Fn(&mut Vec<StoredOverride>),
    ) -> Result<OverrideEffect> {
        let (Scope::Page(about) | Scope::Site(about)) = &rule.scope;
        let act = Act { reason: reason.to_owned(), note: rule.note.clone(), ..Act::new("override", about) };
        let work = async {
            objects::change(self.log.blobs.as_ref(), KEY, OverrideList::default, |all| {
                change(&mut all.overrides);
                if all.overrides.len() > MAX_OVERRIDES {
                    let why = format!("there are {MAX_OVERRIDES} overrides already; remove some");
                    return Err(StageError::Job(why));
                }
                Ok(())
            })
            .await?;
            self.follow(&rule.scope).await
        };
        self.log.act(by, act, work, |_| true).await
    }

    /// Applies the rules to the pages of a scope that were judged before.
    async fn follow(&self, scope: &Scope) -> Result<OverrideEffect> {
        let rules: Vec<Override> = self.list().await?.into_iter().map(|given| given.rule).collect();
        let mut followed = OverrideEffect::default();
        if let Scope::Page(url) = scope {
            let id = Url::parse(url).map(|url| address::page_id(&url)).map_err(|e| StageError::Job(e.to_string()))?;
            let page = self.pages.get(&id).await?.map(|(page, _)| page);
            self.follow_for(page.into_iter().collect(), &rules, &mut followed).await?;
            return Ok(followed);
        }
        let mut after: Option<PageId> = None;
        loop {
            let mut rows = self.pages.list(after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else { return Ok(followed) };
            after = Some(last.id.clone());
            rows.retain(|page| scope.covers(&page.url, &host_of(&page.url)));
            self.follow_for(rows, &rules, &mut followed).await?;
        }
    }

    async fn follow_for(&self, pages: Vec<Page>, rules: &[Override], done: &mut OverrideEffect) -> Result<()> {
        let mut taken_up = Vec::new();
        for page in pages {
            let rule = about(rules, &page.url);
            match (&page.state, rule.map(|rule| rule.verdict)) {
                (PageState::Accepted { .. }, Some(Verdict::Reject)) => {
                    self.removal.remove(&page.id, Gone::Screened).await?;
                    done.removed += 1;
                }
                (PageState::Rejected { reason: Rejection::Screened(why) }, verdict)
                    if verdict == Some(Verdict::Pass) || (verdict.is_none() && why.is_operators()) =>
                {
                    let lifted = Screened { lifted: true, picture: None, ..why.clone() };
                    if self.write(&page, PageState::Rejected { reason: Rejection::Screened(lifted) }).await? {
                        taken_up.push(page);
                    }
                }
                _ => {}
            }
        }
        done.taken_up += taken_up.len() as u64;
        // By then all judges have read the new rules.
        let due = self.log.clock.now() + RULES_KNOWN_FOR;
        let jobs: Vec<_> = first_visits(taken_up).into_iter().map(|job| (job, due)).collect();
        if jobs.is_empty() { Ok(()) } else { Ok(self.queue.send(&jobs).await?) }
    }

    async fn write(&self, page: &Page, state: PageState) -> Result<bool> {
        let Some((now, seen)) = self.pages.get(&page.id).await? else { return Ok(false) };
        if now.state == state {
            return Ok(true);
        }
        if now.state != page.state {
            return Ok(false);
        }
        Ok(swapped(self.pages.swap(seen, &Page { state, at: self.log.clock.now(), ..page.clone() }).await)?)
    }
}

//! Re-checks: an indexed page is looked at again, and what is gone or must not be found leaves the index.

use super::{Fetch, Item, Round, waits};
use crate::StageError;
use crate::overrules;
use crate::usage::Stated;
use crate::visit::End;
use curlew_model::{Gone, Rejection, Validators, VisitItem};
use curlew_policy::sampling::{Recheck, by_status};
use curlew_ports::{CallKind, Reply};
use curlew_screen::{Overrule, Verdict as Judged};
use url::Url;

impl Fetch {
    pub(super) async fn recheck(
        &self,
        round: &mut Round<'_, '_>,
        item: &VisitItem,
        url: &Url,
    ) -> Result<Item, StageError> {
        // What the operator keeps out need not be asked for.
        if self.overrule(url.as_str()).await?.is_some_and(|rule| rule.verdict == Judged::Reject) {
            self.removal.remove(&item.page, Gone::Screened).await?;
            return Ok(Item::Done);
        }
        let got = round.visit.get(url, CallKind::Page, &Validators::default()).await?;
        let found = match &got.end {
            End::Reply(reply) => return self.still_there(round, item, reply, &got.url).await,
            End::Rejected(Rejection::Robots) => Recheck::Gone(Gone::Robots),
            End::Rejected(Rejection::Blocked) => Recheck::Gone(Gone::Blocked),
            End::Rejected(Rejection::Excluded(_)) => Recheck::Gone(Gone::Excluded),
            End::Rejected(_) => Recheck::Unknown,
            end => return Ok(waits(end).unwrap_or(Item::Done)),
        };
        if let Recheck::Gone(reason) = found {
            self.removal.remove(&item.page, reason).await?;
        }
        Ok(Item::Done)
    }

    /// What the operator says of a page.
    pub(super) async fn overrule(&self, url: &str) -> Result<Option<Overrule>, StageError> {
        let rules = self.judge.rules(self.blobs.as_ref(), self.manners.clock.as_ref()).await?;
        Ok(overrules::about(&rules, url).cloned())
    }

    async fn still_there(
        &self,
        round: &mut Round<'_, '_>,
        item: &VisitItem,
        reply: &Reply,
        url: &Url,
    ) -> Result<Item, StageError> {
        let gone = match by_status(reply.status) {
            Recheck::Unknown => return Ok(Item::Done),
            Recheck::Gone(reason) => reason,
            Recheck::Present => match self.look(reply, url) {
                Err(Rejection::Noindex) => Gone::Noindex,
                Err(_) => {
                    self.removal.still_there(&item.page, None).await?;
                    return Ok(Item::Done);
                }
                Ok(seen) if seen.wishes.expired(self.manners.clock.now()) => Gone::Expired,
                Ok(seen) => match round.visit.stated(url, reply, &seen.glance.robots_meta).await? {
                    Stated::Refused(_) => Gone::Preference,
                    Stated::Unknown(end) => return Ok(waits(&end).unwrap_or(Item::Done)),
                    Stated::MayBeFound(_) => {
                        self.removal.still_there(&item.page, Some(&seen.wishes)).await?;
                        return Ok(Item::Done);
                    }
                },
            },
        };
        self.removal.remove(&item.page, gone).await?;
        Ok(Item::Done)
    }
}

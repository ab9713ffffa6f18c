//! What may be done with a page once it was fetched, where the settings say that such preferences are heeded: AIPREF's
//! `Content-Usage` in robots.txt and in the answer, and TDMRep's file, header and meta tag.
//!
//! A site's `tdmrep.json` is asked for once a day and kept beside its robots.txt.

use crate::politeness::visit::{CallEnd, Visit};
use crate::stage::StageError;
use bytes::Bytes;
use curlew_model::{Origin, Timestamp, Validators};
use curlew_policy::address;
use curlew_policy::page::preferences::Preferences;
use curlew_policy::robots::MAX_AGE;
use curlew_policy::robots::tdmrep::{TdmFile, reservation_of, tdm_url};
use curlew_ports::{CallKind, Reply, RobotsCopy};
use url::Url;

/// What the key of a copy ends in; a port is a number, so no origin has this key.
const KEY: &str = "tdmrep";
/// The word that such a copy stands under.
const STANDING: &str = "tdmrep";

/// What was stated about a page that was fetched.
pub(crate) enum StatedUsage {
    /// It may be found; these preferences are kept with it (draft-ietf-aipref-attach, "When Preferences Apply").
    MayBeFound(Option<String>),
    /// It must not be found, because of this.
    Refused(String),
    /// It could not be asked now; this is why.
    Unknown(CallEnd),
}

/// What a site's file says of a URL.
pub(crate) enum Tdm {
    Says(Option<bool>),
    /// It could not be asked now; this is why.
    Unknown(CallEnd),
}

impl Visit<'_> {
    /// What is stated about a page: by its site's files, by the answer, by the page's own meta tags. The most restrictive
    /// AIPREF statement counts; of TDMRep the one that is nearest to the page.
    pub(crate) async fn stated(
        &mut self,
        url: &Url,
        reply: &Reply,
        meta: &[(String, String)],
    ) -> Result<StatedUsage, StageError> {
        let scope = self.politeness.scope.clone();
        let mut kept = None;
        if scope.aipref {
            let said = self.usage(url).await?.and(Preferences::of_headers(&reply.headers.content_usage));
            if said.search == Some(false) {
                return Ok(StatedUsage::Refused(format!("Content-Usage: {said}")));
            }
            kept = (!said.is_silent()).then(|| said.to_string());
        }
        if scope.tdmrep {
            let file = match self.tdm(url).await? {
                Tdm::Says(says) => says,
                Tdm::Unknown(end) => return Ok(StatedUsage::Unknown(end)),
            };
            if reservation_of(file, reply.headers.tdm_reservation.as_deref(), meta) {
                return Ok(StatedUsage::Refused("tdm-reservation: 1".to_owned()));
            }
        }
        Ok(StatedUsage::MayBeFound(kept))
    }

    /// Asks the `tdmrep.json` that holds for a URL. It is like a page's call: robots.txt may forbid it, and redirects are
    /// followed as far as for pages. A file that is not to be had reserves nothing.
    pub(crate) async fn tdm(&mut self, url: &Url) -> Result<Tdm, StageError> {
        let key = address::origin(url).ok().and_then(|origin| Origin::new(&format!("{origin}:{KEY}")).ok());
        let (Some(key), Some(file)) = (key, tdm_url(url)) else { return Ok(Tdm::Says(None)) };
        let now = self.politeness.clock.now();
        let copy = match self.politeness.robots.get(&key).await? {
            Some(copy) if now < copy.fresh_until => copy,
            _ => {
                let got = self.get(&file, CallKind::Robots, &Validators::default()).await?;
                let now = self.politeness.clock.now();
                let (body, from, end) = match got.end {
                    CallEnd::Reply(reply) if reply.status == 200 => (reply.body, now, None),
                    CallEnd::Reply(_) | CallEnd::Rejected(_) => (Bytes::new(), now, None),
                    // Whoever refuses this file is not asked for it again as soon as the hold is over: its pages would
                    // never have their turn.
                    CallEnd::Held(until, why) => (Bytes::new(), until, Some(CallEnd::Held(until, why))),
                    end => return Ok(Tdm::Unknown(end)),
                };
                let copy = kept(body, now, from);
                self.politeness.robots.put(&key, &copy).await?;
                if let Some(end) = end {
                    return Ok(Tdm::Unknown(end));
                }
                copy
            }
        };
        Ok(Tdm::Says(TdmFile::parse(&copy.body).reservation(url)))
    }
}

fn kept(body: Bytes, now: Timestamp, from: Timestamp) -> RobotsCopy {
    RobotsCopy {
        standing: STANDING.to_owned(),
        body,
        body_at: now,
        fetched_at: now,
        fresh_until: from + MAX_AGE,
        validators: Validators::default(),
    }
}

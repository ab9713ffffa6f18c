//! Interstitials: a document in place of a host's pages removes none of them and rejects none for good.

use super::*;
use crate::politeness::visit::KnownDocument;
use crate::politeness::visit::interstitial::LOOKED_AT_BYTES;
use curlew_article::validity;
use curlew_model::HoldReason;
use curlew_policy::politeness::interstitial;
use curlew_policy::politeness::redirect::Chain;

/// Maximum number of suspects in a visit, decided at its end, when other pages may have shown the same text.
pub(super) const MOST_SUSPECTS: usize = 16;
/// Placeholder for an image, where only title and text are judged.
const ANY_IMAGE: &str = "image";

/// The kind of document at the address of a new page.
pub(super) enum Sight {
    Itself,
    /// An interstitial: the item waits.
    Interstitial(Item),
    Suspicious(Suspicion),
}

/// A page that seems worthless or is not the announced one: an unknown interstitial may hide it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspicion {
    text: u32,
    /// True if a page of the host showed its own text since the previous look at this page.
    was_refuted: bool,
    /// True if the text is too short to be kept, and not empty.
    is_short: bool,
}

impl Fetch {
    pub(super) async fn sight(&self, round: &mut Round<'_>, page: &mut NewPage) -> Result<Sight> {
        let NewPage { item, got, seen, calls_left, .. } = page;
        let (CallEnd::Reply(reply), Purpose::New { hints }) = (&got.end, &item.purpose) else {
            return Ok(Sight::Itself);
        };
        if reply.status == 200
            && let Some(vendor) = marks::by_address(&got.url)
        {
            return Ok(Sight::Interstitial(self.hold(round, &got.url, vendor)));
        }
        let html = match seen {
            Ok(seen) if seen.html.len() > LOOKED_AT_BYTES => {
                round.visit.change(interstitial::own_text);
                return Ok(Sight::Itself);
            }
            Ok(seen) => seen.html.clone(),
            Err(Rejection::Noindex) if reply.body.len() <= LOOKED_AT_BYTES && !reply.body_skipped => html_of(reply),
            Err(_) => return Ok(Sight::Itself),
        };
        let read = read_article(self.politeness.pool.as_ref(), html, &got.url).await?;
        let Some((html, article)) = read else { return Ok(Sight::Itself) };
        let marked = marks::in_document(&html, &article.text);
        if let Some(vendor) = marked.wall {
            return Ok(Sight::Interstitial(self.hold(round, &got.url, vendor)));
        }
        let title = article.title.as_deref().unwrap_or_default();
        let announced = interstitial::is_announced(hints.title.as_deref(), title, &article.text);
        let valid = validity(article.title.as_deref().or(hints.title.as_deref()), &article.text, Some(ANY_IMAGE));
        let is_short = matches!(valid, Err(Rejection::NoTitle | Rejection::ShortText));
        let is_worthless = is_short || seen.is_err();
        let text = key_of(&article);
        if announced == Some(true) || marked.is_parked {
            if !is_worthless {
                round.visit.change(interstitial::own_text);
            }
            return Ok(Sight::Itself);
        }
        if !is_worthless && announced.is_none() && !round.visit.has_substitute(text) {
            round.visit.change(interstitial::own_text);
            return Ok(Sight::Itself);
        }
        let was_refuted = interstitial::is_refuted(&round.visit.state.learned, text, &item.page);
        round.visit.change(|state| interstitial::substituted(state, text, &item.page));
        if let Some(waits) = self.hidden(round, &got.url, text) {
            return Ok(Sight::Interstitial(waits));
        }
        // The call counts towards the page's maximum, so it is made only for a worthless document.
        if is_worthless && *calls_left > 0 {
            let calls = round.visit.state.calls;
            match self.home_shows(round, &got.url, &got.url, text, *calls_left - 1).await? {
                Ok(true) => round.visit.change(|state| interstitial::covers_home(state, text)),
                Err(waits @ Item::Later(_)) => return Ok(Sight::Interstitial(waits)),
                Ok(false) | Err(_) => {}
            }
            *calls_left = calls_left.saturating_sub(round.visit.state.calls - calls);
        }
        Ok(match self.hidden(round, &got.url, text) {
            Some(waits) => Sight::Interstitial(waits),
            None => {
                let is_short = is_short && !(title.is_empty() && article.text.is_empty());
                Sight::Suspicious(Suspicion { text, was_refuted, is_short })
            }
        })
    }

    /// Decides about a suspect at a visit's end: it waits for a hold, is fetched again, or is taken as it is.
    pub(super) async fn resolve(&self, round: &mut Round<'_>, page: NewPage, suspicion: Suspicion) -> Result<Item> {
        let hold = round.visit.state.learned.hold.as_ref();
        if let Some(hold) = hold.filter(|hold| hold.reason == HoldReason::Interstitial) {
            return Ok(Item::Later(NotNow::held(hold.until, HoldReason::Interstitial)));
        }
        let Suspicion { text, was_refuted, is_short } = suspicion;
        let (learned, deferrals) = (&round.visit.state.learned, round.job.deferrals);
        let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
        let again = interstitial::look_at_new_again_at(learned, text, was_refuted, deferrals, rules, now);
        match again.filter(|_| is_short || interstitial::is_shared(learned, text)) {
            Some(at) => Ok(Item::Apart(at, ItemWait::Doubt)),
            None => self.take_in(round, page).await,
        }
    }

    pub(super) fn hidden(&self, round: &mut Round<'_>, url: &Url, text: u32) -> Option<Item> {
        interstitial::is_interstitial(&round.visit.state.learned, text).then(|| self.hold(round, url, ""))
    }

    pub(super) fn hold(&self, round: &mut Round<'_>, url: &Url, vendor: &str) -> Item {
        let until = round.visit.hold_interstitial(vendor, url);
        Item::Later(NotNow::held(until, HoldReason::Interstitial))
    }

    /// Returns how a removal waits, if the home page shows the page's text too: it then covers all pages.
    pub(super) async fn home_is_hidden(
        &self,
        round: &mut Round<'_>,
        page: &Page,
        answered: &Url,
        text: u32,
    ) -> Result<Option<Item>> {
        let Ok(url) = Url::parse(&page.url) else { return Ok(None) };
        let redirects = self.politeness.rules.page_redirects;
        match self.home_shows(round, &url, answered, text, redirects).await? {
            Ok(false) => Ok(None),
            Ok(true) => {
                round.visit.change(|state| interstitial::covers_home(state, text));
                Ok(self.hidden(round, answered, text))
            }
            Err(waits) => Ok(Some(waits)),
        }
    }

    /// Returns whether the home page of a page's site shows this text, or how the item waits. The home page is called
    /// at most once a day per host key. `answered` is the page's final URL.
    async fn home_shows(
        &self,
        round: &mut Round<'_>,
        url: &Url,
        answered: &Url,
        text: u32,
        redirects: u32,
    ) -> Result<Result<bool, Item>> {
        let home = url.join("/").ok().filter(|home| home != answered && home != url);
        let Some(home) = home else { return Ok(Ok(false)) };
        if let Some(look) = round.visit.home_look(&home) {
            return Ok(Ok(look.text == Some(text)));
        }
        let mut chain = Chain::new(home.clone(), redirects);
        let unknown = KnownDocument { validators: &Validators::default(), url: &home };
        let answer = round.visit.follow(&mut chain, CallKind::Page, unknown).await?;
        let shown = self.shown_article(&answer).await?.map(|article| key_of(&article));
        let waits = match &answer.end {
            CallEnd::Reply(reply) => {
                let held = round.visit.url_held_until(reply, round.job.deferrals);
                held.map(|until| Item::Apart(until, ItemWait::Own))
            }
            end => waits(end),
        };
        if waits.is_none() || answer.hops > 0 || matches!(answer.end, CallEnd::Elsewhere(_)) {
            round.visit.note_home(&home, shown);
        }
        Ok(waits.map_or(Ok(shown == Some(text)), Err))
    }
}

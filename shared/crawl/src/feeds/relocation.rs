//! Changes to other rows when a feed moves or is retired.

use curlew_model::{FeedSource, Polling, SiteSource, SiteState, Source, SourceKey, Timestamp, Validators};
use curlew_policy::address;
use curlew_ports::Sources;
use curlew_ports::stage::Result;
use url::Url;

/// Moves a feed to a row of its new address; returns the old row, still to be written. May run twice.
pub(crate) async fn relocate(sources: &dyn Sources, feed: FeedSource, to: &Url) -> Result<FeedSource> {
    tracing::info!(from = %feed.url, %to, "the feed has moved for good");
    let key = address::source_key(to);
    let heir = Source::Feed(FeedSource {
        key: key.clone(),
        slot: address::slot(&key),
        url: to.as_str().to_owned(),
        moved: None,
        polling: Polling { moved_at: None, extra_slots: 0, subscription: None, ..feed.polling.clone() },
        ..feed.clone()
    });
    if !sources.insert(&heir).await?
        && let Some((Source::Feed(there), seen)) = sources.get(&key).await?
        && there.gone
    {
        sources.swap(seen, &heir).await?;
    }
    if let Some(site) = &feed.site {
        rename_in_site(sources, site, &feed.key, &key).await?;
    }
    Ok(FeedSource {
        gone: true,
        trouble: Some(format!("the feed has moved for good to {to}")),
        moved: Some((to.as_str().to_owned(), 0)),
        validators: Validators::default(),
        seen: vec![],
        // The hub must still be told to end the subscription of the old address.
        polling: Polling {
            reopened: feed.polling.reopened,
            hub: feed.polling.hub,
            subscription: feed.polling.subscription,
            ..Polling::default()
        },
        ..feed
    })
}

async fn rename_in_site(sources: &dyn Sources, site: &SourceKey, old: &SourceKey, new: &SourceKey) -> Result<()> {
    let Some((Source::Site(mut site), seen)) = sources.get(site).await? else { return Ok(()) };
    let SiteState::Working { feeds } = &mut site.state else { return Ok(()) };
    let Some(place) = feeds.iter().position(|key| key == old) else { return Ok(()) };
    if feeds.contains(new) {
        feeds.remove(place);
    } else {
        feeds[place] = new.clone();
    }
    sources.swap(seen, &Source::Site(site)).await?;
    Ok(())
}

/// Sends a site that has lost its last feed back to discovery; once per feed, or a dead site is searched for ever.
pub(crate) async fn reopen_site(sources: &dyn Sources, feed: &mut FeedSource, now: Timestamp) -> Result<()> {
    let Some(site) = feed.site.clone().filter(|_| !feed.polling.reopened) else { return Ok(()) };
    let Some((Source::Site(site), seen)) = sources.get(&site).await? else { return Ok(()) };
    let SiteState::Working { feeds } = &site.state else { return Ok(()) };
    for key in feeds.iter().filter(|key| **key != feed.key) {
        if matches!(sources.get(key).await?, Some((Source::Feed(feed), _)) if !feed.gone) {
            return Ok(());
        }
    }
    tracing::info!(site = %site.url, feed = %feed.url, "the site has lost its last feed and is looked at again");
    feed.polling.reopened = true;
    let open = SiteSource { state: SiteState::Waiting, not_before: now, failures: 0, failure: None, ..site };
    sources.swap(seen, &Source::Site(open)).await?;
    Ok(())
}

/// Returns a retired feed to polling: clears its failures, and keeps its entries.
pub fn revived(feed: FeedSource) -> FeedSource {
    FeedSource {
        gone: false,
        trouble: None,
        failures: 0,
        moved: None,
        not_before: Timestamp::MIN,
        polled_at: Timestamp::MIN,
        polling: Polling { streak: None, moved_at: None, ..feed.polling },
        ..feed
    }
}

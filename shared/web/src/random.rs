//! A random page of the index.

use crate::app::{ErrorPage, PageRequest};
use crate::hit::web_url;
use crate::quota::Allowance;
use axum::response::Redirect;
use curlew_catalog::results::{FindError, SiteEntry, Start};
use sha2::{Digest, Sha256};

/// Number of newest pages of a site among which one is chosen.
const NEWEST: u64 = 1_000;

/// `GET /random`: redirects to a random page of the index. All sites are equally likely.
pub(crate) async fn show(request: PageRequest) -> Result<Redirect, ErrorPage> {
    request.admit(Allowance::Search)?;
    let app = &request.app;
    let sites = request.tried("sites", app.services.search.sites()).await?;
    let seed = (app.clock.now().as_millis(), app.next_serial());
    let Some((host, place)) = choose(&sites, format!("{seed:?}").as_bytes()) else { return Ok(Redirect::to("/")) };
    match app.services.search.find(&format!("site:{host} sort:date"), Start::Offset(place), 1).await {
        Ok(found) => {
            let url = found.hits.first().and_then(|hit| web_url(&hit.url));
            Ok(Redirect::to(url.as_ref().map_or("/", |url| url.as_str())))
        }
        Err(FindError::BadQuery(_)) => Ok(Redirect::to("/")),
        Err(FindError::Port(error)) => Err(request.failed("find", error)),
    }
}

/// Returns the host of a random site and the position of one of its pages, counted from the newest.
fn choose<'a>(sites: &'a [SiteEntry], seed: &[u8]) -> Option<(&'a str, usize)> {
    let digest: [u8; 32] = Sha256::digest(seed).into();
    let (one, two) = digest.split_at(8);
    let below = |bytes: &[u8], end: u64| {
        let number = bytes.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number.checked_rem(end).and_then(|place| usize::try_from(place).ok())
    };
    let site = sites.get(below(one, sites.len() as u64)?)?;
    Some((&site.host, below(two, site.pages.min(NEWEST))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::Timestamp;

    #[test]
    fn every_site_is_chosen_and_every_page_of_it() {
        let site = |host: &str, pages| SiteEntry { host: host.to_owned(), pages, newest: Timestamp::EPOCH };
        let sites = [site("large.example", 3), site("small.example", 1)];
        let mut times = std::collections::BTreeMap::new();
        for seed in 0_u32..1_000 {
            if let Some(chosen) = choose(&sites, &seed.to_le_bytes()) {
                *times.entry(chosen).or_insert(0) += 1;
            }
        }
        assert_eq!(times.keys().map(|(_, place)| *place).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert!((400..600).contains(&times[&("small.example", 0)]), "{times:?}");
        assert_eq!(choose(&[], b"seed"), None);
    }
}

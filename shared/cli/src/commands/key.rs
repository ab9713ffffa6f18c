//! `curlew key`: makes, shows and rotates the keys that sign requests.

use crate::args::{KeyWhat, With};
use crate::output;
use crate::world::World;
use anyhow::{Context, Result, bail};
use curlew_app::{KeyStore, KeyVersion, random_secret};
use curlew_signature::directory::PATH;
use curlew_signature::keys::KeyRing;
use serde_json::json;

pub(super) async fn run(world: &World, args: &With<KeyWhat>) -> Result<()> {
    let (keys, now) = (&world.keys, world.clock.now());
    let ring = match args.what {
        KeyWhat::Show => stored(keys).await?.0,
        KeyWhat::New => {
            let ring = KeyRing::new(&seed()?, now);
            if !keys.create(&ring).await? {
                bail!("there is already a key in {}: `curlew key rotate` creates its successor", keys.place());
            }
            ring
        }
        KeyWhat::Rotate => {
            let (ring, seen) = stored(keys).await?;
            let ring = ring.rotate(&seed()?, now)?;
            keys.replace(&seen, &ring).await?;
            ring
        }
    };
    if !matches!(args.what, KeyWhat::Show)
        && let Some(signer) = &world.crawler.politeness.signer
    {
        let unique = world.crawler.politeness.seeds.next();
        let published = signer.publish(world.ports.blobs.as_ref(), now, unique).await;
        let failed = "the key was created; its directory cannot be stored now, and is stored when the crawler runs";
        published.context(failed)?;
    }
    tell(world, &ring, args.json)
}

fn seed() -> Result<[u8; 32]> {
    random_secret().context("the system provides no random bytes")
}

async fn stored(keys: &KeyStore) -> Result<(KeyRing, KeyVersion)> {
    let stored = keys.read().await?;
    stored.with_context(|| format!("there is no key in {}: `curlew key new` creates one", keys.place()))
}

fn tell(world: &World, ring: &KeyRing, json: bool) -> Result<()> {
    let now = world.clock.now();
    let signing = ring.signing(now).map(|key| key.id());
    let base = world.config.web.base_url.as_deref().map(|base| base.trim_end_matches('/'));
    let agent = world.config.signature_agent().map(|url| url.origin().ascii_serialization());
    let directory = agent.map(|origin| format!("{origin}{PATH}"));
    let published = ring.published(now);
    if json {
        let keys = published.iter().map(|(stored, key)| {
            json!({
                "id": key.id(),
                "jwk": key.jwk(),
                "made": stored.made,
                "signs_from": stored.signs_from,
                "published_until": stored.published_until,
                "signs": Some(key.id()) == signing,
            })
        });
        return output::json(&json!({ "keys": keys.collect::<Vec<_>>(), "directory": directory }));
    }
    for (stored, key) in &published {
        let until = stored.published_until.map(|until| format!(", published until {}", output::when(until)));
        let until = until.unwrap_or_default();
        let signs = if Some(key.id()) == signing { "signs" } else { "does not sign now" };
        output::line(format!("{}  {signs}; made {}, signs from {}{until}", key.id(), stored.made, stored.signs_from))?;
        output::line(format!("  public key: {}", serde_json::to_string(&key.jwk())?))?;
    }
    output::line(&match (directory, base) {
        (Some(directory), _) => format!("directory: {directory}"),
        (None, Some(base)) => {
            format!("no request is signed: sites must reach the directory over https, but `[web] base_url` is {base}")
        }
        (None, None) => "no request is signed until `[web] base_url` says where sites find the directory".to_owned(),
    })?;
    if world.config.signatures.is_none() {
        output::line("no request is signed: `[signatures] mode` is off")?;
    }
    Ok(())
}

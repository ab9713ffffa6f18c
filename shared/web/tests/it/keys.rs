//! The directory of keys, as a site reads it.

use crate::support::{Backend, World, ready, settings};
use axum::http::StatusCode;
use curlew_crawl::politeness::signing::DIRECTORY;
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::Millis;
use curlew_ports::Clock;
use curlew_signature::directory::{LIFETIME, MAX_AGE, MEDIA_TYPE, PATH, SignedDirectory};
use curlew_signature::keys::KeyRing;
use curlew_web::PageSettings;
use web_bot_auth::components::{CoveredComponent, DerivedComponent, HTTPField};
use web_bot_auth::keyring;
use web_bot_auth::message_signatures::{MessageVerifier, SignedMessage};

/// The response as its reader receives it.
struct Received {
    input: String,
    signature: String,
}

impl SignedMessage for Received {
    fn lookup_component(&self, name: &CoveredComponent) -> Vec<String> {
        match name {
            CoveredComponent::HTTP(HTTPField { name, .. }) if name == "signature" => vec![self.signature.clone()],
            CoveredComponent::HTTP(HTTPField { name, .. }) if name == "signature-input" => vec![self.input.clone()],
            CoveredComponent::Derived(DerivedComponent::Authority { .. }) => vec!["search.example".to_owned()],
            _ => vec![],
        }
    }
}

#[tokio::test]
async fn i01_the_directory_of_keys_verifies_with_the_keys_that_it_lists() {
    let world = World::of(Backend::default());
    assert_eq!(world.get(PATH).await.status, StatusCode::NOT_FOUND, "without keys there is no directory");
    let now = world.clock.now();
    let ring = KeyRing::new(&[5; 32], now).rotate(&[6; 32], now).unwrap();
    let directory = serde_json::to_vec(&SignedDirectory::new(&ring, "search.example", now, 1)).unwrap();
    ready(world.ports.blobs.put(DIRECTORY, directory.into())).unwrap();
    let answer = world.get(PATH).await;
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, MEDIA_TYPE));
    assert_eq!(answer.header("cache-control"), format!("public, max-age={}", MAX_AGE.0 / 1_000));
    let mut known = keyring::KeyRing::default();
    assert!(known.import_jwks(serde_json::from_str(&answer.body).unwrap()).iter().all(Option::is_none));
    let received = Received {
        input: answer.header("signature-input").to_owned(),
        signature: answer.header("signature").to_owned(),
    };
    for label in ["sig1", "sig2"] {
        let verifier = MessageVerifier::parse(&received, |(found, _)| found.as_str() == label).unwrap();
        verifier.verify(&known, None).unwrap();
    }
    world.clock.advance(LIFETIME + Millis(1));
    assert_eq!(world.get(PATH).await.status, StatusCode::NOT_FOUND, "the signatures have expired");
}

#[tokio::test]
async fn h15_the_bot_page_says_which_requests_are_signed() {
    for (signatures, links) in [(None, 0), (Some(SignatureMode::Asked), 1), (Some(SignatureMode::Always), 1)] {
        let world = World::with(Backend::default(), PageSettings { signatures, ..settings() });
        for language in ["en", "it"] {
            let page = world.get_in(language, "/bot").await;
            assert_eq!(page.body.matches(PATH).count(), links, "{signatures:?} {language}");
        }
    }
}

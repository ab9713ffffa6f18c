use curlew_model::{Millis, SignatureHeaders, Timestamp};
use curlew_signature::directory::SignedDirectory;
use curlew_signature::keys::KeyRing;
use curlew_signature::request::{LIFETIME, sign};
use web_bot_auth::components::{CoveredComponent, DerivedComponent, HTTPField};
use web_bot_auth::keyring;
use web_bot_auth::message_signatures::{MessageVerifier, SignedMessage};
use web_bot_auth::{SignatureAgentLink, WebBotAuthVerifier};

const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const AGENT: &str = "https://search.example";

/// A request or response as its receiver sees it.
#[derive(Clone)]
struct Received {
    authority: &'static str,
    headers: SignatureHeaders,
}

impl SignedMessage for Received {
    fn lookup_component(&self, name: &CoveredComponent) -> Vec<String> {
        match name {
            CoveredComponent::HTTP(HTTPField { name, parameters }) => match name.as_str() {
                // A covered component is one member of the dictionary (RFC 9421 §2.1.2).
                "signature-agent" if !parameters.0.is_empty() => {
                    vec![self.headers.agent.strip_prefix("sig1=").unwrap().to_owned()]
                }
                "signature" => vec![self.headers.signature.clone()],
                "signature-input" => vec![self.headers.input.clone()],
                "signature-agent" => vec![self.headers.agent.clone()],
                _ => vec![],
            },
            CoveredComponent::Derived(DerivedComponent::Authority { .. }) => vec![self.authority.to_owned()],
            CoveredComponent::Derived(_) => vec![],
        }
    }
}

fn ring() -> KeyRing {
    KeyRing::new(&[5; 32], START)
}

fn signed(authority: &'static str, unique: u64) -> Received {
    let key = ring().signing(START).unwrap();
    Received { authority, headers: sign(&key, authority, AGENT, START, unique) }
}

/// Returns the keys that a site imports from the directory.
fn known_keys(ring: &KeyRing, now: Timestamp) -> keyring::KeyRing {
    let directory = SignedDirectory::new(ring, "search.example", now, 1);
    let mut known = keyring::KeyRing::default();
    let failed = known.import_jwks(serde_json::from_str(&directory.body).unwrap());
    assert!(failed.iter().all(Option::is_none));
    known
}

fn verifies(received: &Received) -> bool {
    let Ok(verifier) = WebBotAuthVerifier::parse(received) else { return false };
    verifier.verify(&known_keys(&ring(), START), None).is_ok()
}

#[test]
fn a_request_verifies_with_the_key_of_the_directory_it_names() {
    for authority in ["blog.example", "xn--bcher-kva.example:8080"] {
        let received = signed(authority, 1);
        let verifier = WebBotAuthVerifier::parse(&received).unwrap();
        assert_eq!(*verifier.get_signature_agents(), [SignatureAgentLink::External(AGENT.into())]);
        assert!(verifies(&received), "{authority}");
    }
}

#[test]
fn a_changed_byte_another_host_and_another_directory_do_not_verify() {
    let received = signed("blog.example", 1);
    assert!(verifies(&received));
    assert!(!verifies(&Received { authority: "other.example", ..received.clone() }));
    let verifies_with = |headers| verifies(&Received { headers, ..received.clone() });
    let agent = received.headers.agent.replace("search", "bearch");
    assert!(!verifies_with(SignatureHeaders { agent, ..received.headers.clone() }));
    // The last base64 digit has unused bits, so it is not changed.
    for at in 6..received.headers.signature.len() - 4 {
        let mut bytes = received.headers.signature.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let signature = String::from_utf8(bytes).unwrap();
        assert!(!verifies_with(SignatureHeaders { signature, ..received.headers.clone() }), "byte {at}");
    }
    let input = received.headers.input.replace("expires=179", "expires=199");
    assert!(!verifies_with(SignatureHeaders { input, ..received.headers.clone() }));
}

#[test]
fn a_signature_is_for_minutes_and_its_nonce_for_one_request() {
    let details = |received: &Received| {
        let verifier = WebBotAuthVerifier::parse(received).unwrap();
        let label = verifier.get_parsed_label();
        label.base.parameters.details.clone()
    };
    let first = details(&signed("blog.example", 1));
    let lifetime = first.expires.unwrap() - first.created.unwrap();
    assert_eq!(Millis::from_secs(lifetime.unsigned_abs()), LIFETIME);
    assert_eq!(first.tag.as_deref(), Some("web-bot-auth"));
    assert_eq!(details(&signed("blog.example", 1)).nonce, first.nonce);
    assert_ne!(details(&signed("blog.example", 2)).nonce, first.nonce);
    let is_expired = |created: Timestamp| {
        let headers = sign(&ring().signing(created).unwrap(), "blog.example", AGENT, created, 1);
        let advice = details(&Received { authority: "blog.example", headers }).possibly_insecure(|_| false);
        advice.is_expired.unwrap()
    };
    assert!(is_expired(START - Millis::from_days(3_000)) && !is_expired(START + Millis::from_days(30_000)));
}

#[test]
fn a_directory_is_signed_by_each_key_that_it_lists() {
    let now = START + Millis::from_days(3);
    let ring = ring().rotate(&[6; 32], now).unwrap();
    let directory = SignedDirectory::new(&ring, "search.example", now, 7);
    let (input, signature) = (directory.input.clone(), directory.signature.clone());
    let headers = SignatureHeaders { agent: String::new(), input, signature };
    let received = Received { authority: "search.example", headers };
    for label in ["sig1", "sig2"] {
        let verifier = MessageVerifier::parse(&received, |(found, _)| found.as_str() == label).unwrap();
        verifier.verify(&known_keys(&ring, now), None).unwrap();
    }
    assert!(!directory.is_stale(&ring, "search.example", now + Millis::from_hours(1)));
    assert!(directory.is_stale(&ring, "search.example", now + Millis::from_days(1)), "signatures must be renewed");
    assert!(directory.is_stale(&ring, "www.search.example", now));
    assert!(directory.is_stale(&self::ring(), "search.example", now), "a change of keys makes the directory stale");
}

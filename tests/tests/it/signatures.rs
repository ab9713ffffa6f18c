//! Verifies signed requests of the real program with `web-bot-auth`, which shares no code with it.

use curlew_fixtureweb::{Call, Uniform};
use curlew_tests::{Server, Store, Web};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{Permissions, metadata, read_to_string, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};
use web_bot_auth::components::{CoveredComponent, DerivedComponent, HTTPField};
use web_bot_auth::keyring::KeyRing;
use web_bot_auth::message_signatures::{MessageVerifier, ParameterDetails, SignedMessage};
use web_bot_auth::{SignatureAgentLink, WebBotAuthVerifier};

pub(crate) const DIRECTORY: &str = "/.well-known/http-message-signatures-directory";
const ALWAYS: &str = "[web]\nbase_url = \"https://search.test\"\n[signatures]\nmode = \"always\"\n";

/// A request or an answer as its receiver sees it.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) authority: String,
    pub(crate) agent: String,
    pub(crate) input: String,
    pub(crate) signature: String,
}

impl Received {
    pub(crate) fn of(call: &Call) -> Received {
        let header = |name| call.header(name).unwrap_or_else(|| panic!("no {name}: {call:?}")).to_owned();
        Received {
            authority: call.host.clone(),
            agent: header("signature-agent"),
            input: header("signature-input"),
            signature: header("signature"),
        }
    }

    fn params(&self) -> ParameterDetails {
        let verifier = MessageVerifier::parse(self, |_| true).unwrap();
        verifier.parsed.base.parameters.details
    }
}

impl SignedMessage for Received {
    fn lookup_component(&self, name: &CoveredComponent) -> Vec<String> {
        match name {
            CoveredComponent::HTTP(HTTPField { name, parameters }) => match name.as_str() {
                "signature-agent" if !parameters.0.is_empty() => {
                    vec![self.agent.strip_prefix("sig1=").unwrap().to_owned()]
                }
                "signature-agent" => vec![self.agent.clone()],
                "signature-input" => vec![self.input.clone()],
                "signature" => vec![self.signature.clone()],
                _ => vec![],
            },
            CoveredComponent::Derived(DerivedComponent::Authority { .. }) => vec![self.authority.clone()],
            CoveredComponent::Derived(_) => vec![],
        }
    }
}

/// A site that verifies requests with the keys of the directory. It accepts a signature only in its time, and each
/// nonce once.
pub(crate) struct Site {
    keys: KeyRing,
    nonces: BTreeSet<String>,
}

impl Site {
    /// Creates a site that has read the directory of keys and verified the directory's signature.
    pub(crate) fn with(directory: &Received, keys: &str) -> Site {
        MessageVerifier::parse(directory, |_| true).unwrap().verify(&known(keys), None).unwrap();
        Site { keys: known(keys), nonces: BTreeSet::new() }
    }

    pub(crate) fn accepts(&mut self, request: &Received, now: i64) -> bool {
        let Ok(verifier) = WebBotAuthVerifier::parse(request) else { return false };
        let params = request.params();
        let in_time = params.created.is_some_and(|at| at <= now) && params.expires.is_some_and(|at| now < at);
        verifier.verify(&self.keys, None).is_ok() && in_time && self.nonces.insert(params.nonce.unwrap())
    }
}

pub(crate) fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn known(keys: &str) -> KeyRing {
    let mut known = KeyRing::default();
    assert!(known.import_jwks(serde_json::from_str(keys).unwrap()).iter().all(Option::is_none));
    known
}

#[test]
fn i01_signed_requests_verify_and_fail_when_changed_late_repeated_or_sent_elsewhere() {
    let web = Web::uniform(&Uniform { hosts: 1, pages: 3, ..Uniform::default() });
    let mut store = Store::brisk(&web);
    store.configure(ALWAYS);
    store.run(&["key", "new"]).ok();
    store.crawl(&web.starts());
    let server = Server::start(&store);
    let answer = server.get(DIRECTORY);
    assert_eq!(answer.status, 200, "{answer:?}");
    let directory = Received {
        authority: "search.test".to_owned(),
        agent: String::new(),
        input: answer.header("signature-input").unwrap().to_owned(),
        signature: answer.header("signature").unwrap().to_owned(),
    };
    let keys = answer.text();
    let mut site = Site::with(&directory, &keys);
    let calls = web.calls();
    assert!(calls.len() > 3, "{calls:?}");
    for call in &calls {
        let request = Received::of(call);
        let verifier = WebBotAuthVerifier::parse(&request).unwrap();
        assert_eq!(*verifier.get_signature_agents(), [SignatureAgentLink::External("https://search.test".into())]);
        let elsewhere = Received { authority: "other.test".to_owned(), ..request.clone() };
        assert!(!site.accepts(&elsewhere, now()), "a request to another host");
        let mut changed = request.clone().signature.into_bytes();
        changed[8] = if changed[8] == b'A' { b'B' } else { b'A' };
        let changed = Received { signature: String::from_utf8(changed).unwrap(), ..request.clone() };
        assert!(!site.accepts(&changed, now()), "a changed byte");
        assert!(!site.accepts(&request, now() + 301), "an expired window");
        assert!(site.accepts(&request, now()), "the request as it was sent");
        assert!(!site.accepts(&request, now()), "a replay");
    }
    server.stop();
}

#[test]
fn i01_keys_are_made_shown_and_rotated_and_nobody_else_may_read_them() {
    let mut store = Store::alone();
    store.configure(ALWAYS);
    assert_eq!(store.run(&["key"]).code(), 2);
    let made = store.run(&["key", "new", "--json"]).ok().json();
    assert_eq!(made["directory"], format!("https://search.test{DIRECTORY}"));
    store.run(&["key", "new"]).refused(1, &["already", "rotate"]);
    let path = store.data().join("keys.json");
    assert_eq!(metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let file: Value = serde_json::from_str(&read_to_string(&path).unwrap()).unwrap();
    let seed = file["keys"][0]["seed"].as_str().unwrap().to_owned();
    let shown = store.run(&["key", "show"]).ok().stdout;
    let id = made["keys"][0]["id"].as_str().unwrap();
    assert!(shown.contains(id) && shown.contains(DIRECTORY) && !shown.contains(&seed), "{shown}");
    assert!(!made.to_string().contains(&seed), "{made}");
    let rotated = store.run(&["key", "rotate", "--json"]).ok().json();
    let keys = rotated["keys"].as_array().unwrap();
    assert_eq!((keys.len(), &keys[0]["signs"], &keys[1]["signs"]), (2, &true.into(), &false.into()), "{rotated}");
    store.run(&["key", "rotate"]).refused(1, &["published until"]);
    assert_eq!(metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    store.run(&["key", "show"]).refused(1, &["keys.json", "0644", "chmod 600"]);
    store.run(&["key", "rotate"]).refused(1, &["chmod 600"]);
    assert!(store.run(&["status"]).ok().stdout.contains("chmod 600"), "the status must name the remedy");
}

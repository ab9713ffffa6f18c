use curlew_model::{Millis, Timestamp};
use curlew_signature::keys::{KeyError, KeyRing, PUBLISHED_AFTER_USE, PUBLISHED_BEFORE_USE};

const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn ids(ring: &KeyRing, now: Timestamp) -> Vec<String> {
    ring.published(now).iter().map(|(_, key)| key.id()).collect()
}

#[test]
fn a_key_has_the_thumbprint_that_rfc_8037_gives() {
    // The seed and the thumbprint are from RFC 8037, appendices A.1 and A.3.
    let seed = [
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49,
        0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
    ];
    let key = KeyRing::new(&seed, START).signing(START).unwrap();
    assert_eq!(serde_json::to_value(key.jwk()).unwrap()["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn a_new_key_is_published_before_it_signs_and_the_old_one_stays_for_a_while() {
    let old = KeyRing::new(&[1; 32], START);
    let rotated_at = START + Millis::from_days(90);
    let ring = old.rotate(&[2; 32], rotated_at).unwrap();
    let [first, second] = &ids(&ring, rotated_at)[..] else { panic!("both are published") };
    let signs = |at: Timestamp| ring.signing(at).unwrap().id();
    let takes_over = rotated_at + PUBLISHED_BEFORE_USE;
    assert_eq!(signs(rotated_at), *first);
    assert_eq!(signs(takes_over - Millis(1)), *first);
    assert_eq!(signs(takes_over), *second);
    let gone = takes_over + PUBLISHED_AFTER_USE;
    assert_eq!(ids(&ring, gone - Millis(1)).len(), 2);
    assert_eq!(ids(&ring, gone), [second.as_str()]);
    assert_eq!(ring.rotate(&[3; 32], gone - Millis(1)), Err(KeyError::RotationUnderWay(gone)));
    let third = ring.rotate(&[3; 32], gone).unwrap();
    assert_eq!(ids(&third, gone).len(), 2, "the first is dropped");
    assert_eq!(signs(START - Millis::from_days(400)), *first, "a clock that was set back leaves a key");
}

#[test]
fn a_file_of_keys_is_read_as_it_was_written_and_its_faults_are_told_without_its_seeds() {
    let ring = KeyRing::new(&[7; 32], START).rotate(&[8; 32], START).unwrap();
    let written = ring.write();
    assert_eq!(KeyRing::read(&written).unwrap(), ring);
    let text = String::from_utf8(written).unwrap();
    let seed = text.split('"').find(|part| part.len() == 43).unwrap().to_owned();
    assert!(!format!("{ring:?}").contains(&seed), "debug output shows no seed");
    for bad in [
        String::new(),
        "{}".into(),
        "x".repeat(5_000),
        text.replace(&seed, "short"),
        text.replacen(&format!("\"{seed}\""), "12", 1),
        r#"{"version":1,"keys":[]}"#.into(),
        text[..text.len() / 2].into(),
    ] {
        let Err(KeyError::Unreadable(why)) = KeyRing::read(bad.as_bytes()) else { panic!("{bad}") };
        assert!(!why.contains(&seed) && !why.is_empty(), "{why}");
    }
    assert_eq!(KeyRing::read(br#"{"version":9,"keys":"otherwise"}"#), Err(KeyError::Newer(9)));
}

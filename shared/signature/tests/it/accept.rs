use curlew_signature::accept::is_ours;
use proptest::prelude::*;

#[test]
fn a_signature_that_can_be_made_is_made() {
    for asked in [
        r#"sig1=("@authority");tag="web-bot-auth""#,
        r#"sig1=("@authority" "signature-agent";key="sig1");alg="ed25519";created;keyid;nonce;tag="web-bot-auth""#,
        r#"other=("@method");tag="app", bots=("@authority");tag="web-bot-auth""#,
        r#"sig1=("@authority")"#,
        "sig1=()",
    ] {
        assert!(is_ours(asked), "{asked}");
    }
}

#[test]
fn a_signature_that_cannot_be_made_is_not_promised() {
    let long = format!(r#"sig1=("@authority");tag="web-bot-auth";x="{}""#, "y".repeat(64 * 1024));
    for asked in [
        "",
        "sig1",
        r#"sig1="@authority""#,
        r#"sig1=("@authority");tag="app""#,
        r#"sig1=("@authority");alg="rsa-pss-sha512""#,
        r#"sig1=("@authority" "content-digest");tag="web-bot-auth""#,
        r#"sig1=("@authority""#,
        &long,
    ] {
        assert!(!is_ours(asked), "{:.60}", asked);
    }
}

proptest! {
    #[test]
    fn whatever_a_server_sends_is_read(asked in r#"[ -~é\n]{0,200}"#) {
        is_ours(&asked);
    }
}

//! Behaviours of [`RobotsStore`].

use super::samples::{AWKWARD, at};
use bytes::Bytes;
use curlew_model::{Origin, Timestamp, Validators};
use curlew_ports::{RobotsCopy, RobotsStore};
use std::sync::Arc;

/// Length that a crawler must read at least (RFC 9309 §2.5); Curlew's maximum is slightly larger.
const LARGE: usize = 512 * 1024;

fn origin(text: &str) -> Origin {
    Origin::new(text).expect("an origin")
}

fn copy(standing: &str, body: impl Into<Bytes>) -> RobotsCopy {
    RobotsCopy {
        standing: standing.into(),
        body: body.into(),
        body_at: at(1),
        fetched_at: at(2),
        fresh_until: at(3),
        validators: Validators { etag: Some("W/\"a\"".into()), last_modified: Some(AWKWARD.into()) },
    }
}

/// An origin without a fetched file has no copy.
pub async fn an_unknown_origin_has_no_copy(robots: &Arc<dyn RobotsStore>) {
    assert_eq!(robots.get(&origin("https://example.org:443")).await.expect("reads"), None);
}

/// A body consists of bytes, not of text.
pub async fn a_copy_is_read_back_byte_for_byte(robots: &Arc<dyn RobotsStore>) {
    let key = origin("https://example.org:443");
    let body: Vec<u8> = (0..LARGE).map(|i| u8::try_from(i * 7 % 256).unwrap_or(0)).collect();
    let kept = copy(AWKWARD, body);
    robots.put(&key, &kept).await.expect("keeps");
    assert_eq!(robots.get(&key).await.expect("reads"), Some(kept));
}

/// An empty body, no validators, and extreme instants are read back.
pub async fn a_copy_at_the_bounds_is_read_back(robots: &Arc<dyn RobotsStore>) {
    let key = origin("http://[2001:db8::1]:65535");
    let kept = RobotsCopy {
        body_at: Timestamp::MIN,
        fetched_at: Timestamp::EPOCH,
        fresh_until: Timestamp::MAX,
        validators: Validators::default(),
        ..copy("", Bytes::new())
    };
    robots.put(&key, &kept).await.expect("keeps");
    assert_eq!(robots.get(&key).await.expect("reads"), Some(kept));
}

/// A new copy replaces all of the previous copy.
pub async fn the_last_copy_wins(robots: &Arc<dyn RobotsStore>) {
    let key = origin("https://example.org:443");
    robots.put(&key, &copy("first", "User-agent: *\nDisallow: /")).await.expect("keeps");
    let second = RobotsCopy { validators: Validators::default(), ..copy("second", "") };
    robots.put(&key, &second).await.expect("keeps");
    assert_eq!(robots.get(&key).await.expect("reads"), Some(second));
}

/// An origin consists of scheme, host and port (RFC 9309 §2.3).
pub async fn origins_do_not_disturb_each_other(robots: &Arc<dyn RobotsStore>) {
    let origins = ["https://a.example:443", "http://a.example:443", "http://a.example:80", "https://b.example:443"];
    for text in origins {
        robots.put(&origin(text), &copy(text, text)).await.expect("keeps");
    }
    for text in origins {
        let kept = robots.get(&origin(text)).await.expect("reads");
        assert_eq!(kept, Some(copy(text, text)));
    }
}

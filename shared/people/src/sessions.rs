//! Sessions of operators on the pages under `/admin`, and the login tokens that start them.
//!
//! All sessions and tokens are in one small object, changed by compare-and-swap. It stores only hashes, so its content
//! lets nobody sign in. The caller generates the secrets, and checks their format before it calls this module.

use crate::objects::{self, load};
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Clock};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const KEY: &str = "sessions.json";
/// Time for which a token can start a session.
pub const TOKEN_VALID_FOR: Millis = Millis::from_mins(10);
/// Maximum length of a session.
pub const SESSION_VALID_FOR: Millis = Millis::from_hours(12);
/// Time without a request after which a session ends.
pub const IDLE_FOR: Millis = Millis::from_hours(2);
/// Minimum interval between two records of a session's use, so that not every request causes a write.
const NOTED_EVERY: Millis = Millis::from_mins(5);
/// Maximum number of tokens, and of sessions; a new one replaces the oldest.
const MOST: usize = 64;
/// Maximum length of an operator's name, in characters.
const MAX_NAME: usize = 64;

/// Stores sessions and tokens.
#[derive(Clone)]
pub struct Sessions {
    /// Store of the object.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

#[derive(Default, Serialize, Deserialize)]
struct StoredSessions {
    tokens: Vec<StoredToken>,
    sessions: Vec<StoredSession>,
}

#[derive(Serialize, Deserialize)]
struct StoredToken {
    hash: String,
    until: Timestamp,
    name: String,
}

#[derive(Serialize, Deserialize)]
struct StoredSession {
    hash: String,
    name: String,
    begun: Timestamp,
    used: Timestamp,
}

impl StoredSession {
    fn is_live(&self, now: Timestamp) -> bool {
        now < self.begun + SESSION_VALID_FOR && now < self.used + IDLE_FOR
    }
}

/// Returns a text, trimmed, if it can name an operator: not empty, no control characters, at most 64 characters.
pub fn operator_name(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_fit = !text.is_empty() && text.chars().count() <= MAX_NAME && !text.contains(char::is_control);
    is_fit.then_some(text)
}

impl Sessions {
    /// Stores a token that can start one session of this operator within [`TOKEN_VALID_FOR`].
    pub async fn issue(&self, token: &[u8], name: &str) -> Result<()> {
        let until = self.clock.now() + TOKEN_VALID_FOR;
        let token = || StoredToken { hash: hash_hex(token), until, name: name.to_owned() };
        self.change(|all| all.tokens.push(token())).await
    }

    /// Consumes a token and starts its session; returns the operator's name, or `None` if the token is not valid.
    pub async fn begin(&self, token: &[u8], session: &[u8]) -> Result<Option<String>> {
        let (token, session, now) = (hash_hex(token), hash_hex(session), self.clock.now());
        self.change(|all| {
            let place = all.tokens.iter().position(|known| known.hash == token)?;
            let StoredToken { name, .. } = all.tokens.remove(place);
            let begun = StoredSession { hash: session.clone(), name: name.clone(), begun: now, used: now };
            all.sessions.push(begun);
            Some(name)
        })
        .await
    }

    /// Returns the operator's name of a session, and records its use; `None` if the session has ended.
    pub async fn find(&self, session: &[u8]) -> Result<Option<String>> {
        let (hash, now) = (hash_hex(session), self.clock.now());
        let all: StoredSessions = load(self.blobs.as_ref(), KEY).await?.unwrap_or_default();
        let Some(known) = all.sessions.iter().find(|known| known.hash == hash && known.is_live(now)) else {
            return Ok(None);
        };
        if now >= known.used + NOTED_EVERY {
            let note = |all: &mut StoredSessions| {
                let own = all.sessions.iter_mut().find(|known| known.hash == hash)?;
                own.used = own.used.max(now);
                Some(())
            };
            // The session may have ended in the meantime.
            if self.change(note).await?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(known.name.clone()))
    }

    /// Ends a session.
    pub async fn end(&self, session: &[u8]) -> Result<()> {
        let hash = hash_hex(session);
        self.change(|all| all.sessions.retain(|known| known.hash != hash)).await
    }

    /// Ends all sessions and invalidates all tokens; returns the number of sessions.
    pub async fn end_all(&self) -> Result<usize> {
        self.change(|all| {
            all.tokens.clear();
            std::mem::take(&mut all.sessions).len()
        })
        .await
    }

    /// Changes the object after expired tokens and sessions are removed from it.
    async fn change<T>(&self, change: impl Fn(&mut StoredSessions) -> T) -> Result<T> {
        let now = self.clock.now();
        objects::change(self.blobs.as_ref(), KEY, StoredSessions::default, |all| {
            all.tokens.retain(|token| now < token.until);
            all.sessions.retain(|session| session.is_live(now));
            let answer = change(all);
            all.tokens.drain(..all.tokens.len().saturating_sub(MOST));
            all.sessions.drain(..all.sessions.len().saturating_sub(MOST));
            Ok(answer)
        })
        .await
    }
}

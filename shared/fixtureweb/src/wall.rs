//! Bot walls: documents that a site sends instead of its own.

use crate::log::Kind;
use crate::reply::Reply;

/// A bot wall in front of a site or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wall {
    /// Status of the wall's answers.
    pub status: u16,
    /// Document that the wall sends.
    pub face: Face,
    /// Answers that the wall replaces.
    pub scope: Scope,
    /// Number of calls, of any kind, that get their normal answers after the wall is set.
    pub after: usize,
}

/// Document that a wall sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A challenge with a different number in each answer.
    Challenge,
    /// A challenge with `noindex`.
    Noindex,
    /// A challenge with its vendor in a header (`cf-mitigated`).
    Vendor,
    /// A request for consent, as long as an article.
    Consent,
    /// A page that only a script can fill.
    Shell,
    /// Only a few words about the status.
    Status,
}

/// The part of a site behind a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    All,
    /// Everything except robots.txt.
    Documents,
    /// robots.txt.
    Robots,
    /// Feeds and sitemaps.
    Feeds,
    /// Pictures.
    Images,
}

impl Wall {
    /// Twelve kinds of walls, by name.
    pub const KINDS: [(&str, Wall); 12] = [
        ("200 with noindex", wall(200, Face::Noindex, Scope::All)),
        ("200 without noindex", wall(200, Face::Challenge, Scope::All)),
        ("202", wall(202, Face::Status, Scope::All)),
        ("403 with a challenge", wall(403, Face::Vendor, Scope::All)),
        ("402", wall(402, Face::Status, Scope::Documents)),
        ("429 page", wall(429, Face::Challenge, Scope::All)),
        ("a consent page", wall(200, Face::Consent, Scope::Documents)),
        ("a JavaScript shell", wall(200, Face::Shell, Scope::Documents)),
        ("robots.txt alone", wall(200, Face::Challenge, Scope::Robots)),
        ("feeds alone", wall(200, Face::Challenge, Scope::Feeds)),
        ("images alone", wall(403, Face::Vendor, Scope::Images)),
        ("after the tenth call", Wall { after: 10, ..wall(200, Face::Noindex, Scope::All) }),
    ];

    /// True if the wall replaces answers of this kind.
    const fn stops(self, kind: Kind) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::Documents => !matches!(kind, Kind::Robots),
            Scope::Robots => matches!(kind, Kind::Robots),
            Scope::Feeds => matches!(kind, Kind::Feed | Kind::Sitemap),
            Scope::Images => matches!(kind, Kind::Image),
        }
    }

    /// Returns the answer that replaces `reply`; `call` is the number of the call since the wall was set, from 1.
    pub(crate) fn replace(self, reply: Reply, call: usize) -> Reply {
        if call <= self.after || !self.stops(reply.kind) {
            return reply;
        }
        let kind = reply.kind;
        let (head, body) = match self.face {
            Face::Status => return Reply::status(kind, self.status),
            Face::Consent => ("<title>Before you continue</title>".to_owned(), CONSENT.repeat(5)),
            Face::Shell => ("<title>Loading</title><script src=\"/app.js\"></script>".to_owned(), SHELL.to_owned()),
            Face::Challenge | Face::Noindex | Face::Vendor => {
                let noindex = if self.face == Face::Noindex { NOINDEX } else { "" };
                let body = format!("<p>Checking your browser before you proceed. Ray ID: {call:06x}8fa.</p>");
                (format!("<title>Just a moment...</title>{noindex}"), body)
            }
        };
        let html = format!("<!doctype html>\n<html lang=\"en\"><head>{head}</head><body>{body}</body></html>\n");
        let wall = Reply { status: self.status, ..Reply::page(html) }.of_kind(kind);
        if self.face == Face::Vendor { wall.with("cf-mitigated", "challenge") } else { wall }
    }
}

const fn wall(status: u16, face: Face, scope: Scope) -> Wall {
    Wall { status, face, scope, after: 0 }
}

const NOINDEX: &str = "<meta name=\"robots\" content=\"noindex,nofollow\">";
const CONSENT: &str =
    "<p>We and our 814 partners store and access personal data on your device. Choose whether you agree to that.</p>";
const SHELL: &str = "<div id=\"root\"></div><noscript>Enable JavaScript to run this app.</noscript>";

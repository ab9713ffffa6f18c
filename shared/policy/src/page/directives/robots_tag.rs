//! The header Robots-Tag (draft-illyes-repext-03), brought into the form of X-Robots-Tag.

use super::{MAX_VALUE_BYTES, WITH_VALUE, parts};
use sfv::visitor::{EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor, ParameterVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};
use std::convert::Infallible;

/// Returns `Robots-Tag` headers as lines of `X-Robots-Tag`, one for each product token: `*;nosnippet,
/// ExampleBot;noindex` becomes `*: nosnippet` and `ExampleBot: noindex`.
///
/// Several headers are one List (RFC 9651 §3.1). A header that is no such list, and a member that is a rule itself, are
/// read as X-Robots-Tag: a restriction written in the old form is meant.
pub fn robots_tag_lines(headers: &[String]) -> Vec<String> {
    let joined = headers.join(",");
    match Parser::new(whole_members(&joined)).parse_list_with_visitor(Members::default()) {
        Ok(Members(members)) => members.into_iter().map(line).collect(),
        Err(_) => headers.to_vec(),
    }
}

/// Returns the members of a field that are whole within the limit.
fn whole_members(field: &str) -> &str {
    if field.len() <= MAX_VALUE_BYTES {
        return field;
    }
    let head = field.get(..field.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or_default();
    head.rsplit_once(',').map_or("", |(whole, _)| whole)
}

fn line((token, rules): Member) -> String {
    let rules: Vec<String> = rules.into_iter().filter_map(|(_, rule)| rule).collect();
    if rules.is_empty() { token } else { format!("{token}: {}", rules.join(", ")) }
}

/// A product token and its rules by name, each as X-Robots-Tag writes it; `None` for one that is switched off.
type Member = (String, Vec<(String, Option<String>)>);

#[derive(Default)]
struct Members(Vec<Member>);

struct NextMember<'a>(&'a mut Vec<Member>);

struct MemberRules<'a>(Option<&'a mut Member>);

impl<'de> ListVisitor<'de> for Members {
    type Out = Members;
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(NextMember(&mut self.0))
    }

    fn finish(self) -> Result<Members, Infallible> {
        Ok(self)
    }
}

impl<'de> EntryVisitor<'de> for NextMember<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for NextMember<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        let token = match &item {
            BareItemFromInput::Token(token) => Some(token.as_str()),
            BareItemFromInput::String(text) => Some(text.as_str()),
            _ => None,
        };
        let Some(token) = token else { return Ok(MemberRules(None)) };
        self.0.push((token.to_owned(), Vec::new()));
        Ok(MemberRules(self.0.last_mut()))
    }
}

impl<'de> ParameterVisitor<'de> for MemberRules<'_> {
    type Out = ();
    type Error = Infallible;

    fn parameter(&mut self, key: &'de KeyRef, value: BareItemFromInput<'de>) -> Result<(), Infallible> {
        if let Some((_, rules)) = &mut self.0 {
            let name = key.as_str();
            // If a parameter occurs twice, the last one counts (RFC 9651 §3.1.2).
            rules.retain(|(known, _)| known != name);
            rules.push((name.to_owned(), rule(name, &value)));
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn rule(name: &str, value: &BareItemFromInput<'_>) -> Option<String> {
    let is_valued = WITH_VALUE.contains(&name);
    match value {
        BareItemFromInput::Boolean(set) => set.then(|| name.to_owned()),
        BareItemFromInput::Integer(number) if is_valued => Some(format!("{name}: {number}")),
        BareItemFromInput::Token(token) if is_valued => Some(format!("{name}: {}", token.as_str())),
        // Nothing that a text holds may begin another rule.
        BareItemFromInput::String(text) if is_valued => {
            parts(&format!("{name}: {}", text.as_str())).next().map(str::to_owned)
        }
        _ => None,
    }
}

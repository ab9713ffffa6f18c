//! Findings of the checks.

use super::facts::MissingFact;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Ok,
    /// The part works, but a person should look at it.
    Warning,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// Name of the check; [`super::examine`] fills it in.
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    /// The finding, in a sentence.
    pub(crate) found: String,
    pub(crate) remedy: Option<String>,
    pub(crate) see: Option<&'static str>,
    #[serde(skip)]
    pub(crate) misses_right: bool,
}

impl Finding {
    fn new(level: Level, found: impl Into<String>) -> Finding {
        Finding { check: "", level, found: found.into(), remedy: None, see: None, misses_right: false }
    }

    pub(crate) fn ok(found: impl Into<String>) -> Finding {
        Finding::new(Level::Ok, found)
    }

    pub(crate) fn warning(found: impl Into<String>) -> Finding {
        Finding::new(Level::Warning, found)
    }

    pub(crate) fn failed(found: impl Into<String>) -> Finding {
        Finding::new(Level::Failed, found)
    }

    pub(crate) fn unknown(why: &MissingFact) -> Finding {
        match why {
            MissingFact::Denied(right) => {
                let found = Finding::failed(format!("missing right: {right}"));
                let remedy = "Add it to the policy of the identity whose credentials you use";
                Finding { misses_right: true, ..found.remedy(remedy, "docs/aws.md#rights-of-the-operator") }
            }
            MissingFact::Failed(why) => Finding::failed(why.clone()),
        }
    }

    /// Adds a remedy and a section of the documentation, unless the finding has them.
    #[must_use]
    pub(crate) fn remedy(self, remedy: impl Into<String>, see: &'static str) -> Finding {
        Finding { remedy: self.remedy.or(Some(remedy.into())), see: self.see.or(Some(see)), ..self }
    }

    pub(crate) fn line(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!(". {remedy}")).unwrap_or_default();
        let see = self.see.map(|see| format!(" ({see})")).unwrap_or_default();
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Failed => "failed",
        };
        format!("{level:7}  {:9}  {}{remedy}{see}", self.check, self.found)
    }
}

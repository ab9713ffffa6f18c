//! The leaves of a search: the search page's own function, invoked once more for each part of the splits.
//!
//! An event of the function URL is made by Lambda, always with the version of its format, the context of the request and
//! more; a caller chooses only what is inside of these. So an object that has nothing but `leaf` was sent by somebody who
//! may invoke the function, and that is the function itself.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_aws::Functions;
use curlew_ports::PortError;
use curlew_stages::catalog::leaves::Leaves;
use serde_json::Value;
use std::sync::Arc;

/// Number of leaves that a search of many splits is asked of; 0 for none.
const LEAVES: &str = "CURLEW_SEARCH_LEAVES";
/// Number of splits that may match a query, from which leaves are asked.
const SPLITS: &str = "CURLEW_LEAF_SPLITS";
/// The only member of the event of a leaf.
const EVENT: &str = "leaf";
/// The function that is invoked.
const FUNCTION: &str = "web";

/// Number of leaves, and the number of splits from which on they are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeafSettings {
    leaves: usize,
    splits: usize,
}

impl LeafSettings {
    /// Reads them from the environment. Without the two variables there are no leaves.
    ///
    /// # Errors
    /// Names the variable that is not understood.
    pub(crate) fn of(value: impl Fn(&str) -> Option<String>) -> Result<LeafSettings, String> {
        let number = |name: &str| match value(name).filter(|text| !text.is_empty()) {
            Some(text) => text.parse().map_err(|_| format!("{name} is no number: {text}")),
            None => Ok(0),
        };
        Ok(LeafSettings { leaves: number(LEAVES)?, splits: number(SPLITS)? })
    }

    /// Returns the leaves, if there are any, and the number of splits from which they are asked.
    pub(crate) fn leaves(self, functions: impl FnOnce() -> Functions) -> Option<(Arc<dyn Leaves>, usize)> {
        let leaves = || FunctionLeaves { functions: functions(), count: self.leaves };
        (self.leaves > 0).then(|| (Arc::new(leaves()) as Arc<dyn Leaves>, self.splits))
    }
}

/// Returns the event of a request to a leaf, which is JSON.
pub(crate) fn leaf_event(request: &[u8]) -> Vec<u8> {
    [format!("{{\"{EVENT}\":").as_bytes(), request, b"}"].concat()
}

/// Returns the request to a leaf that an event is, if it is one.
pub(crate) fn leaf_request(event: &Value) -> Option<&Value> {
    event.as_object().filter(|members| members.len() == 1)?.get(EVENT)
}

/// Leaves that are invocations of one function. Which of its instances answers is up to Lambda.
struct FunctionLeaves {
    functions: Functions,
    count: usize,
}

#[async_trait]
impl Leaves for FunctionLeaves {
    fn count(&self) -> usize {
        self.count
    }

    async fn ask(&self, _: usize, request: Bytes) -> Result<Bytes, PortError> {
        Ok(self.functions.invoke(FUNCTION, leaf_event(&request)).await?.into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::json;

    #[test]
    fn leaves_are_asked_only_where_there_are_some() {
        let read = |leaves: &str, splits: &str| {
            LeafSettings::of(|name| Some(if name == LEAVES { leaves } else { splits }.to_owned()))
        };
        assert_eq!(LeafSettings::of(|_| None).unwrap(), LeafSettings::default());
        assert_eq!(read("", "16").unwrap().leaves, 0);
        assert_eq!(read("8", "16").unwrap(), LeafSettings { leaves: 8, splits: 16 });
        assert!(read("many", "16").unwrap_err().contains(LEAVES) && read("8", "-1").unwrap_err().contains(SPLITS));
    }

    #[test]
    fn nothing_but_an_event_of_its_own_is_a_request_to_a_leaf() {
        let request = json!({"form": 1});
        assert_eq!(leaf_request(&json!({"leaf": request})), Some(&request));
        for other in [
            json!({}),
            json!({"smoke": true}),
            json!({"leaf": request, "version": "2.0"}),
            json!({"body": "{\"leaf\":{\"form\":1}}"}),
            json!([{"leaf": request}]),
            json!("leaf"),
        ] {
            assert_eq!(leaf_request(&other), None, "{other}");
        }
    }
}

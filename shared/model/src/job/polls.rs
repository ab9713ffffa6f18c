//! Polls of many feeds in one message.

use super::poll::PollJob;
use crate::kind::Kind;
use crate::poll_group::PollGroup;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Polls that fell due at about the same time, in one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollsJob {
    /// The polls by their group.
    pub groups: Vec<GroupPolls>,
}

impl PollsJob {
    /// Returns the number of its polls.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.polls.len()).sum()
    }

    /// Returns true if it has no polls.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its polls.
    pub fn polls(&self) -> impl Iterator<Item = &PollJob> {
        self.groups.iter().flat_map(|group| &group.polls)
    }
}

/// Polls of feeds of one [`PollGroup`]; quiet ones share one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPolls {
    /// The group that all of them belong to.
    pub group: PollGroup,
    /// Time at which the slot of the first of them came.
    pub due: Timestamp,
    /// The polls, one for each feed.
    pub polls: Vec<PollJob>,
}

impl Kind for PollsJob {
    const NAME: &'static str = "polls";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (
            self.polls().next().map(|poll| poll.feed.to_string()).unwrap_or_default(),
            self.groups.first().map_or(Timestamp::EPOCH, |group| group.due),
        )
    }
}

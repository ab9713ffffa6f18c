//! Switches the AWS event source mapping of an unused queue off until messages wait: every request of a mapping to its
//! queue is billed, even if the queue is empty. The mappings of fetch and extract also rest between two ticks with work,
//! while new messages gather: a function costs less if it does much at a time.

use curlew_model::{Millis, QueueName, Timestamp};

/// Time before a mapping that somebody else switched off is switched on: longer than a gradual deployment.
pub const LEFT_ALONE: Millis = Millis::from_mins(15);
/// Time without a message after which the mapping of fetch or extract rests: less than the interval between two ticks.
const EMPTY_FOR: Millis = Millis::from_mins(4);
/// Minimum time for which such a mapping rests: less than three intervals between ticks.
const GATHER_FOR: Millis = Millis::from_mins(13);
/// Number of messages that end such a rest early: full batches for all pollers of a mapping.
const MANY: u64 = 500;

/// True for queues whose messages gather while their mapping rests.
pub const fn gathers(queue: QueueName) -> bool {
    matches!(queue, QueueName::Fetch | QueueName::Extract)
}

/// State of a mapping as reported by AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingState {
    /// The mapping polls its queue.
    On,
    /// The mapping does not poll its queue; it was last changed at this time.
    Off(Timestamp),
    /// The mapping is changing state and cannot be changed meanwhile.
    Changing,
}

/// A change to a mapping, requested or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Switch the mapping on.
    Wake,
    /// Switch the mapping off.
    Rest,
}

/// Record of the use of one queue, kept by dispatch. A new process assumes that the queue is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueMemory {
    /// Time without messages after which the mapping is switched off.
    rest_after: Millis,
    /// Minimum time for which it then stays off, unless many messages wait.
    gather_for: Millis,
    used_at: Timestamp,
    /// Number of messages at the last tick.
    messages: u64,
    /// Time at which the mapping was last known to be off because the queue is unused.
    rests_since: Option<Timestamp>,
}

impl QueueMemory {
    /// Returns the record of a process that starts now, for a queue in a stack whose unused mappings rest after
    /// `rest_after`.
    pub fn new(queue: QueueName, rest_after: Millis, now: Timestamp) -> QueueMemory {
        let (rest_after, gather_for) = match gathers(queue) {
            true => (rest_after.min(EMPTY_FOR), rest_after.min(GATHER_FOR)),
            false => (rest_after, Millis::ZERO),
        };
        QueueMemory { rest_after, gather_for, used_at: now, messages: 0, rests_since: None }
    }

    /// Records the number of messages in the queue. Returns the change to request: `Wake` if there are any, or `Rest`
    /// each time that the queue's time has passed without one.
    pub fn note(&mut self, messages: u64, now: Timestamp) -> Option<Switch> {
        self.messages = messages;
        if messages > 0 {
            self.used_at = now;
            return Some(Switch::Wake);
        }
        let since = self.rests_since.map_or(self.used_at, |rests| rests.max(self.used_at));
        (now.since(since) >= self.rest_after).then_some(Switch::Rest)
    }

    /// Returns the change to make, if any, for a requested change of a mapping in this state.
    pub fn switch(&self, wish: Switch, state: MappingState, now: Timestamp) -> Option<Switch> {
        match (wish, state) {
            (Switch::Wake, MappingState::Off(changed_at)) => {
                let rests_for = now.since(changed_at);
                let is_ours = self.rests_since.is_some() || rests_for >= LEFT_ALONE;
                let has_work = self.messages >= MANY || rests_for >= self.gather_for;
                (is_ours && has_work).then_some(Switch::Wake)
            }
            (Switch::Rest, MappingState::On) => Some(Switch::Rest),
            _ => None,
        }
    }

    /// Records the state of a mapping, and the change that was made to it, if any.
    pub fn saw(&mut self, wish: Switch, state: MappingState, done: Option<Switch>, now: Timestamp) {
        match (wish, state, done) {
            (Switch::Rest, MappingState::Off(_), _) | (_, _, Some(Switch::Rest)) => self.rests_since = Some(now),
            (_, MappingState::On, None) => self.rests_since = None,
            // A mapping that was switched on may have to be switched again until it is seen on.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Millis = Millis::from_mins(20);
    const START: Timestamp = Timestamp::from_millis(1_795_392_000_000);

    fn at(minute: u64) -> Timestamp {
        START + Millis::from_mins(minute)
    }

    fn discover_since(minute: u64) -> QueueMemory {
        QueueMemory::new(QueueName::Discover, AFTER, at(minute))
    }

    /// Runs one tick of dispatch and returns the change made.
    fn tick(memory: &mut QueueMemory, messages: u64, state: MappingState, minute: u64) -> Option<Switch> {
        let wish = memory.note(messages, at(minute))?;
        let done = memory.switch(wish, state, at(minute));
        memory.saw(wish, state, done, at(minute));
        done
    }

    #[test]
    fn a_queue_that_was_empty_for_the_whole_time_rests_and_not_before() {
        let mut memory = discover_since(0);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 19), None);
        assert_eq!(tick(&mut memory, 1, MappingState::On, 20), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 39), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 40), Some(Switch::Rest));
    }

    #[test]
    fn ticks_may_come_at_any_interval() {
        let mut memory = discover_since(0);
        let rested = (0..100).step_by(3).find(|minute| tick(&mut memory, 0, MappingState::On, *minute).is_some());
        assert_eq!(rested, Some(21));
    }

    #[test]
    fn a_mapping_that_rests_is_woken_at_once_and_asked_about_seldom() {
        let mut memory = discover_since(0);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 20), Some(Switch::Rest));
        assert_eq!(memory.note(0, at(21)), None);
        assert_eq!(memory.note(0, at(40)), Some(Switch::Rest), "somebody may have switched it on");
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(20)), 22), Some(Switch::Wake));
        // The request was lost.
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(20)), 23), Some(Switch::Wake));
        assert_eq!(tick(&mut memory, 1, MappingState::Changing, 24), None);
        assert_eq!(tick(&mut memory, 1, MappingState::On, 25), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 44), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 45), Some(Switch::Rest));
    }

    #[test]
    fn a_new_process_wakes_what_an_earlier_one_has_put_to_rest() {
        let mut memory = discover_since(100);
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(40)), 100), Some(Switch::Wake));
        // After a tick with an unused queue, the record says that its mapping is off on purpose.
        let mut memory = discover_since(100);
        assert_eq!(tick(&mut memory, 0, MappingState::Off(at(119)), 120), None);
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(119)), 121), Some(Switch::Wake));
    }

    #[test]
    fn what_a_deployment_switches_off_is_not_switched_on_before_it_is_over() {
        let mut memory = discover_since(0);
        assert_eq!(tick(&mut memory, 1, MappingState::On, 9), None);
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(10)), 10), None);
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(10)), 24), None);
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(10)), 25), Some(Switch::Wake));
    }

    #[test]
    fn a_mapping_on_its_way_is_left_until_it_is_there() {
        let mut memory = discover_since(0);
        assert_eq!(tick(&mut memory, 0, MappingState::Changing, 20), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 21), Some(Switch::Rest));
    }

    #[test]
    fn pages_gather_while_the_mapping_of_extract_rests_between_two_ticks_with_work() {
        let mut memory = QueueMemory::new(QueueName::Extract, AFTER, at(0));
        assert_eq!(tick(&mut memory, 60, MappingState::On, 0), None);
        assert_eq!(tick(&mut memory, 0, MappingState::On, 5), Some(Switch::Rest));
        let off = MappingState::Off(at(5));
        assert_eq!(tick(&mut memory, 60, off, 10), None, "few messages wait for more");
        assert_eq!(memory.switch(Switch::Wake, off, at(18)), Some(Switch::Wake));
        assert_eq!(tick(&mut memory, MANY, off, 10), Some(Switch::Wake), "many do not wait");
        // The first page after a long rest does not wait either.
        let mut memory = QueueMemory::new(QueueName::Extract, AFTER, at(100));
        assert_eq!(tick(&mut memory, 1, MappingState::Off(at(40)), 100), Some(Switch::Wake));
        let short = QueueMemory::new(QueueName::Fetch, Millis::from_secs(3), at(0));
        assert_eq!((short.rest_after, short.gather_for), (Millis::from_secs(3), Millis::from_secs(3)));
    }
}

//! Switches the AWS event source mapping of an unused queue off until messages wait: every request of a mapping to its
//! queue is billed, even if the queue is empty.

use curlew_model::{Millis, Timestamp};

/// Time before a mapping that somebody else switched off is switched on: longer than a gradual deployment.
pub const LEFT_ALONE: Millis = Millis::from_mins(15);

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
    used_at: Timestamp,
    /// Time at which the mapping was last known to be off because the queue is unused.
    rests_since: Option<Timestamp>,
}

impl QueueMemory {
    /// Returns the record of a process that starts now.
    pub const fn new(now: Timestamp) -> QueueMemory {
        QueueMemory { used_at: now, rests_since: None }
    }

    /// Records whether the queue is used. Returns the change to request: `Wake`, or `Rest` after each `rest_after`.
    pub fn note(&mut self, is_used: bool, rest_after: Millis, now: Timestamp) -> Option<Switch> {
        if is_used {
            self.used_at = now;
            return Some(Switch::Wake);
        }
        let since = self.rests_since.map_or(self.used_at, |rests| rests.max(self.used_at));
        (now.since(since) >= rest_after).then_some(Switch::Rest)
    }

    /// Returns the change to make, if any, for a requested change of a mapping in this state.
    pub fn switch(&self, wish: Switch, state: MappingState, now: Timestamp) -> Option<Switch> {
        match (wish, state) {
            (Switch::Wake, MappingState::Off(changed_at)) => {
                let may_wake = self.rests_since.is_some() || now.since(changed_at) >= LEFT_ALONE;
                may_wake.then_some(Switch::Wake)
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

    /// Runs one tick of dispatch and returns the change made.
    fn tick(memory: &mut QueueMemory, is_used: bool, state: MappingState, minute: u64) -> Option<Switch> {
        let wish = memory.note(is_used, AFTER, at(minute))?;
        let done = memory.switch(wish, state, at(minute));
        memory.saw(wish, state, done, at(minute));
        done
    }

    #[test]
    fn a_queue_that_was_empty_for_the_whole_time_rests_and_not_before() {
        let mut memory = QueueMemory::new(at(0));
        assert_eq!(tick(&mut memory, false, MappingState::On, 19), None);
        assert_eq!(tick(&mut memory, true, MappingState::On, 20), None);
        assert_eq!(tick(&mut memory, false, MappingState::On, 39), None);
        assert_eq!(tick(&mut memory, false, MappingState::On, 40), Some(Switch::Rest));
    }

    #[test]
    fn ticks_may_come_at_any_interval() {
        let mut memory = QueueMemory::new(at(0));
        let rested = (0..100).step_by(3).find(|minute| tick(&mut memory, false, MappingState::On, *minute).is_some());
        assert_eq!(rested, Some(21));
    }

    #[test]
    fn a_mapping_that_rests_is_woken_at_once_and_asked_about_seldom() {
        let mut memory = QueueMemory::new(at(0));
        assert_eq!(tick(&mut memory, false, MappingState::On, 20), Some(Switch::Rest));
        assert_eq!(memory.note(false, AFTER, at(21)), None);
        assert_eq!(memory.note(false, AFTER, at(40)), Some(Switch::Rest), "somebody may have switched it on");
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(20)), 22), Some(Switch::Wake));
        // The request was lost.
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(20)), 23), Some(Switch::Wake));
        assert_eq!(tick(&mut memory, true, MappingState::Changing, 24), None);
        assert_eq!(tick(&mut memory, true, MappingState::On, 25), None);
        assert_eq!(tick(&mut memory, false, MappingState::On, 44), None);
        assert_eq!(tick(&mut memory, false, MappingState::On, 45), Some(Switch::Rest));
    }

    #[test]
    fn a_new_process_wakes_what_an_earlier_one_has_put_to_rest() {
        let mut memory = QueueMemory::new(at(100));
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(40)), 100), Some(Switch::Wake));
        // After a tick with an unused queue, the record says that its mapping is off on purpose.
        let mut memory = QueueMemory::new(at(100));
        assert_eq!(tick(&mut memory, false, MappingState::Off(at(119)), 120), None);
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(119)), 121), Some(Switch::Wake));
    }

    #[test]
    fn what_a_deployment_switches_off_is_not_switched_on_before_it_is_over() {
        let mut memory = QueueMemory::new(at(0));
        assert_eq!(tick(&mut memory, true, MappingState::On, 9), None);
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(10)), 10), None);
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(10)), 24), None);
        assert_eq!(tick(&mut memory, true, MappingState::Off(at(10)), 25), Some(Switch::Wake));
    }

    #[test]
    fn a_mapping_on_its_way_is_left_until_it_is_there() {
        let mut memory = QueueMemory::new(at(0));
        assert_eq!(tick(&mut memory, false, MappingState::Changing, 20), None);
        assert_eq!(tick(&mut memory, false, MappingState::On, 21), Some(Switch::Rest));
    }
}

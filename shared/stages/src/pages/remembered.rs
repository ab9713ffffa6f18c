//! What was asked for lately and need not be asked for again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers that are remembered.
const REMEMBERED: usize = 256;

/// The latest answers by what was asked, the latest last; what is forgotten is asked for again.
pub(crate) struct Remembered<K, V>(Mutex<VecDeque<(K, V)>>);

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Remembered<K, V> {
        Remembered(Mutex::default())
    }
}

impl<K: PartialEq, V: Clone> Remembered<K, V> {
    /// The answer, if it was asked for lately.
    pub(crate) fn get(&self, asked: &K) -> Option<V> {
        self.all().iter().find(|(known, _)| known == asked).map(|(_, answer)| answer.clone())
    }

    pub(crate) fn add(&self, asked: K, answer: V) {
        let mut all = self.all();
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back((asked, answer));
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_is_forgotten_first() {
        let remembered = Remembered::default();
        (0..=REMEMBERED).for_each(|n| remembered.add(n, n * 2));
        assert_eq!((remembered.get(&0), remembered.get(&1)), (None, Some(2)));
        assert_eq!(remembered.get(&REMEMBERED), Some(REMEMBERED * 2));
    }
}

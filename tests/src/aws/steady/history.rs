//! The pasts of feeds: heavy-tailed rates of news, and the times of the last entries, from which the program learns how
//! often to poll.

use super::clock::START;
use crate::aws::random::Random;
use curlew_model::{Habit, Millis, Timestamp};
use curlew_policy::polling::schedule::{estimate, start, times_a_cycle};
use curlew_policy::rules::Rules;

/// Time between two polls of a feed without a history.
pub(super) const CYCLE: Millis = Millis::from_hours(8);
/// Number of cycles in a month.
const CYCLES_A_MONTH: f64 = 90.0;
/// Number of entries that a feed lists.
pub(super) const ENTRIES: usize = 20;
/// Standard deviation of the logarithm of a feed's rate of news. With this value a tenth of the feeds have half of the
/// news.
const TAIL: f64 = 1.5;
/// Maximum time between two entries; it lets some feeds end.
const LONGEST_GAP: Millis = Millis::from_hours(24 * 365);

/// The load to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of feeds.
    pub feeds: u64,
    /// True if feeds are polled as often as they have news, as in a deployed stack; false if each is polled three times
    /// a day.
    pub adaptive: bool,
    /// Number of new pages of all feeds in thirty days.
    pub pages: f64,
    /// Number of minutes of each measured window.
    pub minutes: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// A feed's past.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// The feed's number.
    pub(super) number: u64,
    /// Mean number of new entries in a cycle.
    pub(super) rate: f64,
    /// Times at which the last entries were published, the oldest first.
    pub(super) published: Vec<Timestamp>,
}

impl History {
    /// Draws the pasts of all feeds of a load.
    pub(super) fn draw(load: &Load) -> Vec<History> {
        let mut dice = Random::new(load.seed);
        let rates: Vec<f64> = (0..load.feeds).map(|_| (TAIL * dice.normal()).exp()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let wanted = load.pages / CYCLES_A_MONTH / load.feeds.max(1) as f64;
        (0..).zip(rates).map(|(number, rate)| History::with_rate(number, wanted * rate / mean, &mut dice)).collect()
    }

    /// Scales the rates of the feeds that are polled in the first minutes of a cycle. These feeds stand for all, and by
    /// chance they include too few or too many of the busiest ones; after scaling they have the intended number of
    /// pages.
    pub(super) fn weigh(sample: &mut [History], load: &Load, rules: &Rules, minutes: u64) {
        let stands_for = |history: &History| {
            let polled = u64::from(times_a_cycle(history.interval(rules), rules)) * minutes;
            (CYCLE.0 as f64 / Millis::from_mins(polled).0 as f64).max(1.0)
        };
        let told: f64 = sample.iter().map(|history| history.rate * CYCLES_A_MONTH * stands_for(history)).sum();
        sample.iter_mut().for_each(|history| history.rate *= load.pages / told);
    }

    fn with_rate(number: u64, rate: f64, dice: &mut Random) -> History {
        let mut at = START;
        let mut published: Vec<Timestamp> = std::iter::repeat_with(|| {
            at = at - gap(rate, dice);
            at
        })
        .take(ENTRIES)
        .collect();
        published.reverse();
        History { number, rate, published }
    }

    /// Returns the shortest interval at which the program polls this feed. Without news the interval grows.
    pub(super) fn interval(&self, rules: &Rules) -> Millis {
        let habit = Habit { news_at: None, ..start(self.published.iter().copied(), START) };
        rules.adaptive.then(|| estimate(&habit, rules, START)).flatten().unwrap_or(rules.poll_interval)
    }
}

/// Draws the time to the next entry of a feed that has `rate` entries in a cycle.
pub(super) fn gap(rate: f64, dice: &mut Random) -> Millis {
    let cycles = -dice.unit().ln() / rate.max(f64::MIN_POSITIVE);
    Millis((cycles * CYCLE.0 as f64) as u64).min(LONGEST_GAP)
}

impl Random {
    /// Returns a number above zero and up to one.
    pub(super) fn unit(&mut self) -> f64 {
        (self.below(1 << 53) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box and Muller 1958).
    pub(super) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Draws from a Poisson distribution (Knuth's method, for small means).
    pub(super) fn poisson(&mut self, mean: f64) -> u64 {
        let (limit, mut product, mut count) = ((-mean.min(500.0)).exp(), self.unit(), 0);
        while product > limit {
            product *= self.unit();
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_feed_published_tells_how_often_it_has_news() {
        let load = Load { feeds: 20_000, pages: 200_000.0, minutes: 1, seed: 7, adaptive: true };
        let histories = History::draw(&load);
        let news: f64 = histories.iter().map(|history| history.rate * CYCLES_A_MONTH).sum();
        assert!((news - load.pages).abs() < 1.0, "{news}");
        let rules = Rules::default();
        let polled =
            |hours| histories.iter().filter(|history| history.interval(&rules) == Millis::from_hours(hours)).count();
        assert!(polled(24) > histories.len() / 2, "most feeds have news less than every second day: {}", polled(24));
        assert!((20..2_000).contains(&polled(1)), "few feeds are polled each hour: {}", polled(1));
        let thrice = Rules { adaptive: false, ..rules };
        assert!(histories.iter().all(|history| history.interval(&thrice) == CYCLE));
    }
}

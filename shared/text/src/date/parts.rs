use super::{Accept, Hints, Moment};
use curlew_model::Timestamp;
use jiff::Span;
use jiff::civil::{Date, Weekday};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    pub(super) year: i32,
    pub(super) month: Option<i32>,
    pub(super) day: Option<i32>,
    /// Seconds since midnight.
    pub(super) seconds: i64,
    /// Milliseconds.
    pub(super) millis: i64,
    /// Seconds east of UTC; `None` if no zone is stated.
    pub(super) offset: Option<i64>,
    /// True if the offset is an American zone's in winter, and the text does not state the season.
    pub(super) is_american: bool,
}

impl Parts {
    pub(super) fn moment(mut self, hints: &Hints) -> Option<Moment> {
        let lenient = hints.accept == Accept::Field;
        let first = lenient.then_some(1);
        let (month, day) = (self.month.or(first)?, self.day.or(first)?);
        let narrow = |n: i32| i8::try_from(n).ok();
        // The 31st of a month with 30 days is the 1st of the next month.
        let (day, further) = if lenient { (1, day - 1) } else { (day, 0) };
        let date = Date::new(hints.year(self.year)?, narrow(month)?, narrow(day)?).ok();
        let date = date.filter(|_| (0..=30).contains(&further))?;
        let midnight = midnight(date)?.as_millis();
        let sunday =
            |month, nth| Date::new(date.year(), month, 1).ok()?.nth_weekday_of_month(nth, Weekday::Sunday).ok();
        let today = date.saturating_add(Span::new().days(further));
        if self.is_american && sunday(3, 2)? <= today && today < sunday(11, 1)? {
            self.offset = self.offset.map(|winter| winter + 3_600);
        }
        let offset = self.offset.unwrap_or(0);
        let seconds = i64::from(further) * 86_400 + self.seconds - offset;
        Some(Moment { at: Timestamp::from_millis(midnight + seconds * 1_000 + self.millis), zone: self.zone() })
    }

    pub(super) fn zone(self) -> Option<i16> {
        self.offset.and_then(|seconds| i16::try_from(seconds / 60).ok())
    }

    pub(super) fn from_date(date: Date) -> Parts {
        let (month, day) = (Some(date.month().into()), Some(date.day().into()));
        Parts { year: date.year().into(), month, day, ..Parts::default() }
    }
}

/// Returns midnight in UTC of a day.
pub(super) fn midnight(date: Date) -> Option<Timestamp> {
    let midnight = jiff::tz::Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
    Some(Timestamp::from_millis(midnight.as_millisecond()))
}

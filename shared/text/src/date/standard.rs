//! Parses the two forms of nearly all dates, exactly as in the standards. Any deviation is left to the rest of the
//! module, which gives the same instants for these forms, only more slowly.

use super::parts::Parts;

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Parses `Sun, 03 May 2026 17:05:09 GMT`, or with `+0200` (RFC 5322 §3.3).
pub(super) fn rss(text: &str) -> Option<Parts> {
    let text = text.trim().as_bytes();
    let [_, _, _, b',', b' ', d1, d2, b' ', m1, m2, m3, b' ', y1, y2, y3, y4, b' ', time @ ..] = text else {
        return None;
    };
    let (time, zone) = time.split_at_checked(8)?;
    let month = MONTHS.iter().position(|name| **name == [*m1, *m2, *m3])?;
    Some(Parts {
        year: number(&[*y1, *y2, *y3, *y4])?,
        month: Some(i32::try_from(month).ok()? + 1),
        day: Some(number(&[*d1, *d2])?),
        seconds: seconds(time)?,
        offset: Some(match zone {
            b" GMT" | b" UT" | b" Z" => 0,
            [b' ', sign, h1, h2, m1, m2] => offset(*sign, &[*h1, *h2], &[*m1, *m2])?,
            _ => return None,
        }),
        ..Parts::default()
    })
}

/// Parses `2026-05-03T17:05:09Z`, or with `+02:00`, without a fraction (RFC 3339 §5.6).
pub(super) fn atom(text: &str) -> Option<Parts> {
    let text = text.trim().as_bytes();
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', time @ ..] = text else { return None };
    let (time, zone) = time.split_at_checked(8)?;
    Some(Parts {
        year: number(&[*y1, *y2, *y3, *y4])?,
        month: Some(number(&[*m1, *m2])?),
        day: Some(number(&[*d1, *d2])?),
        seconds: seconds(time)?,
        offset: Some(match zone {
            b"Z" => 0,
            [sign, h1, h2, b':', m1, m2] => offset(*sign, &[*h1, *h2], &[*m1, *m2])?,
            _ => return None,
        }),
        ..Parts::default()
    })
}

/// Returns the seconds since midnight of `17:05:09`; `None` for a leap second or an hour beyond the day.
fn seconds(time: &[u8]) -> Option<i64> {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = time else { return None };
    let parts = [number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?];
    let [hours, minutes, seconds] = parts.map(i64::from);
    (hours < 24 && minutes < 60 && seconds < 60).then_some(hours * 3_600 + minutes * 60 + seconds)
}

fn offset(sign: u8, hours: &[u8], minutes: &[u8]) -> Option<i64> {
    let (hours, minutes) = (i64::from(number(hours)?), i64::from(number(minutes)?));
    let seconds = (hours * 60 + minutes) * 60;
    match sign {
        _ if hours > 14 || minutes > 59 => None,
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i32::from(b - b'0')))
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, field};
    use super::*;

    #[test]
    fn the_short_way_ends_where_the_long_one_does() {
        let instant = |parts: Option<Parts>| parts.and_then(|parts| parts.moment(&Hints::FEED));
        let long = |text: &str| field::parse_freely(text, &Hints::FEED);
        for (n, month) in MONTHS.iter().enumerate() {
            let month = std::str::from_utf8(*month).unwrap_or_default();
            for (zone, dashed) in [("GMT", "Z"), ("+0200", "+02:00"), ("-1130", "-11:30"), ("+0000", "+00:00")] {
                let date = format!(" Sun, {:02} {month} 2026 23:59:0{} {zone}\n", 28 - n, n % 10);
                let short = instant(rss(&date));
                assert!(short.is_some(), "{date}");
                assert_eq!(short, long(&date), "{date}");
                let date = format!("2026-{:02}-{:02}T23:59:0{}{dashed}", n + 1, 28 - n, n % 10);
                assert_eq!(instant(atom(&date)), short, "{date}");
                assert_eq!(long(&date), short, "{date}");
            }
        }
        for other in ["", "Sun, 3 May 2026 17:05:09 GMT", "Sun, 03 May 2026 17:05:60 GMT", "2026-05-03T17:05:09.5Z"] {
            assert!(rss(other).or_else(|| atom(other)).is_none(), "{other}");
        }
    }
}

//! Dates of cookies.

use core::time::Duration;

/// The time since the Unix epoch that a date means (RFC 6265, section 5.1.1): whatever the order of its
/// parts. Zero for one before it, `None` for what is no date.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| !(c.is_ascii_alphanumeric() || c == ':' || !c.is_ascii());
    for part in text.split(is_delimiter).filter(|part| !part.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of(part)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(part, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(part)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(part, 2, 4)
        {
            year = Some(match found {
                0..=69 => found + 2_000,
                70..=99 => found + 1_900,
                _ => found,
            });
        }
    }
    let (seconds, day, month, year) = (time?, day?, month?, year?);
    if !(1..=31).contains(&day) || year < 1_601 {
        return None;
    }
    let days = days(i64::from(year), i64::from(month), i64::from(day));
    Some(Duration::from_secs(u64::try_from(days * 86_400 + i64::from(seconds)).unwrap_or(0)))
}

/// The number at the front of a part, of so many digits.
fn number(part: &str, least: usize, most: usize) -> Option<u32> {
    let digits = part.bytes().take_while(u8::is_ascii_digit).count();
    (least..=most).contains(&digits).then(|| part.get(..digits)?.parse().ok()).flatten()
}

/// Seconds of the day.
fn time_of(part: &str) -> Option<u32> {
    let mut fields = part.splitn(3, ':').map(|field| number(field, 1, 2));
    let (hour, minute, second) = (fields.next()??, fields.next()??, fields.next()??);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3_600 + minute * 60 + second)
}

fn month_of(part: &str) -> Option<u32> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = part.get(..3)?.to_ascii_lowercase();
    (1u32..).zip(NAMES).find(|(_, known)| *known == name).map(|(number, _)| number)
}

/// Days from the Unix epoch to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin with March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_however_they_are_written() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Wed, 09 Jun 2021 10:18:14 GMT", Some(1_623_233_894)),
            ("Wed, 09-Jun-21 10:18:14 GMT", Some(1_623_233_894)),
            ("Wed Jun  9 10:18:14 2021", Some(1_623_233_894)),
            ("10:18:14 9 june 21", Some(1_623_233_894)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01-Jan-99 00:00:00 GMT", Some(915_148_800)),
            ("Thu, 01 Jan 1601 00:00:00 GMT", Some(0)),
            ("Thu, 01 Jan 1600 00:00:00 GMT", None),
            ("Thu, 32 Jan 2021 00:00:00 GMT", None),
            ("Thu, 01 Jan 2021 24:00:00 GMT", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(parse(text), seconds.map(Duration::from_secs), "{text}");
        }
    }
}

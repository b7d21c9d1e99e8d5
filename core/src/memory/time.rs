//! ISO 8601 date-times in UTC, to and from whole milliseconds since the epoch. No zones, no
//! locale, no clock, so a few lines of calendar arithmetic do.

const DAY_MS: i64 = 86_400_000;

/// As JavaScript's `toISOString`: milliseconds and `Z` always, six digits and a sign for years
/// outside 0000 to 9999.
pub(crate) fn format_iso(ms: i64) -> String {
    let (year, month, day) = civil_from_days(ms.div_euclid(DAY_MS));
    let rest = ms.rem_euclid(DAY_MS);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ if year < 0 => format!("-{:06}", year.unsigned_abs()),
        _ => format!("+{year:06}"),
    };
    format!(
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        rest % 1000
    )
}

/// Reads `2026-03-15T10:30:00.123Z`, with `+02:00` or `+0200` for `Z`, with a blank for `T`, in
/// either case, without seconds, without a zone (then UTC), or a date alone (midnight UTC).
/// Fractions beyond milliseconds are dropped.
pub(crate) fn parse_iso(text: &str) -> Option<i64> {
    let mut rest = Cursor(text.trim());
    let year = rest.digits(4)?;
    rest.eat("-")?;
    let month = rest.digits(2)?;
    rest.eat("-")?;
    let day = rest.digits(2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) * DAY_MS;
    if rest.0.is_empty() {
        return Some(midnight);
    }
    rest.eat("T")
        .or_else(|| rest.eat("t"))
        .or_else(|| rest.eat(" "))?;
    let hour = rest.digits(2)?;
    rest.eat(":")?;
    let minute = rest.digits(2)?;
    let mut second = 0;
    let mut milli = 0;
    if rest.eat(":").is_some() {
        second = rest.digits(2)?;
        if rest.eat(".").or_else(|| rest.eat(",")).is_some() {
            milli = rest.fraction_ms()?;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let offset = rest.zone_minutes()?;
    rest.0.is_empty().then_some(
        midnight + hour * 3_600_000 + minute * 60_000 + second * 1000 + milli - offset * 60_000,
    )
}

struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn eat(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.bytes().try_fold(0, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
            Some(number * 10 + digit)
        })
    }

    fn fraction_ms(&mut self) -> Option<i64> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(end)?;
        if digits.is_empty() {
            return None;
        }
        self.0 = rest;
        let ms: String = digits.chars().chain("000".chars()).take(3).collect();
        ms.parse().ok()
    }

    fn zone_minutes(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.eat("Z").or_else(|| self.eat("z")).is_some() {
            return Some(0);
        }
        let sign = if self.eat("+").is_some() {
            1
        } else {
            self.eat("-").map(|()| -1)?
        };
        let hours = self.digits(2)?;
        // A colon between hours and minutes, or nothing; minutes may be left out.
        let colon = self.eat(":").is_some();
        let minutes = if self.0.is_empty() && !colon {
            0
        } else {
            self.digits(2)?
        };
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a proleptic Gregorian date. Years are counted from March, so that the
/// leap day is the last of its year; 400 years have 146,097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

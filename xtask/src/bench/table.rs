//! Figures, and the bars (limits) that some are checked against.

use std::io::{self, Write};

#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    value: f64,
    unit: &'static str,
    bar: Option<Bar>,
}

#[derive(Clone, Copy, Debug)]
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Table {
    /// Adds a figure without a bar.
    pub(crate) fn figure(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        self.rows.push(Row { what: what.into(), value, unit, bar: None });
    }

    /// Adds a figure that must not be larger than its bar.
    pub(crate) fn barred(&mut self, what: impl Into<String>, value: f64, unit: &'static str, at_most: f64) {
        self.rows.push(Row { what: what.into(), value, unit, bar: Some(Bar::AtMost(at_most)) });
    }

    /// Adds a figure that must not be less than its bar.
    pub(crate) fn at_least(&mut self, what: impl Into<String>, value: f64, unit: &'static str, at_least: f64) {
        self.rows.push(Row { what: what.into(), value, unit, bar: Some(Bar::AtLeast(at_least)) });
    }

    /// Returns the figures that miss their bars.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.rows.iter().filter(|row| row.is_missed());
        missed.map(|row| format!("{}: {}", row.what, amount(row.value, row.unit))).collect()
    }

    /// Returns the figures with a bar that are worse than the same figures of `before` by more than this factor.
    pub(crate) fn worse_than(&self, before: &Table, factor: f64) -> Vec<String> {
        let pairs = self.rows.iter().filter_map(|row| {
            let before = before.rows.iter().find(|before| before.what == row.what)?;
            let ratio = match row.bar? {
                Bar::AtMost(_) => row.value / before.value,
                Bar::AtLeast(_) => before.value / row.value,
            };
            (ratio > factor)
                .then(|| format!("{}: {ratio:.2} times as bad as {}", row.what, amount(before.value, row.unit)))
        });
        pairs.collect()
    }

    /// Prints the table as Markdown.
    pub(crate) fn print(&self) -> io::Result<()> {
        let head = ["figure", "measured", "bar", "held"].map(str::to_owned);
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let widths: [usize; 4] =
            std::array::from_fn(|n| rows.iter().map(|cells| cells[n].chars().count()).max().unwrap_or(0));
        let mut out = io::stdout().lock();
        for (n, [what, measured, bar, held]) in rows.iter().enumerate() {
            let [a, b, c, d] = widths;
            writeln!(out, "| {what:a$} | {measured:>b$} | {bar:>c$} | {held:d$} |")?;
            if n == 0 {
                let line = |width: usize| "-".repeat(width);
                writeln!(out, "|-{}-|-{}:|-{}:|-{}-|", line(a), line(b), line(c), line(d))?;
            }
        }
        out.flush()
    }
}

impl Row {
    /// Returns true if the figure misses its bar; NaN misses every bar.
    fn is_missed(&self) -> bool {
        match self.bar {
            None => false,
            Some(_) if self.value.is_nan() => true,
            Some(Bar::AtMost(bar)) => self.value > bar,
            Some(Bar::AtLeast(bar)) => self.value < bar,
        }
    }

    fn cells(&self) -> [String; 4] {
        let bar = match self.bar {
            None => String::new(),
            Some(Bar::AtMost(bar)) => format!("at most {bar} {}", self.unit),
            Some(Bar::AtLeast(bar)) => format!("at least {bar} {}", self.unit),
        };
        let held = match self.bar {
            None => "",
            Some(_) if self.is_missed() => "NO",
            Some(_) => "yes",
        };
        [self.what.clone(), amount(self.value, self.unit), bar, held.to_owned()]
    }
}

/// Formats a value with three significant digits.
fn amount(value: f64, unit: &str) -> String {
    let places = match value.abs() {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.places$} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_missed_by_what_is_beyond_it_and_by_what_is_no_number() {
        let mut table = Table::default();
        table.figure("free", 1e9, "ms");
        table.barred("just so", 10.0, "ms", 10.0);
        assert_eq!(table.missed(), Vec::<String>::new());
        table.barred("too much", 10.004, "ms", 10.0);
        table.barred("nothing", f64::NAN, "ms", 10.0);
        table.at_least("so good", 0.9, "", 0.9);
        table.at_least("too little", 0.896, "", 0.9);
        assert_eq!(table.missed(), ["too much: 10.0 ms", "nothing: NaN ms", "too little: 0.896"]);
    }

    #[test]
    fn figures_with_a_bar_are_held_against_those_of_before() {
        let table = |time: f64, speed: f64, free: f64| {
            let mut table = Table::default();
            table.barred("time", time, "ms", 99.0);
            table.at_least("speed", speed, "", 1.0);
            table.figure("free", free, "");
            table
        };
        let before = table(10.0, 10.0, 10.0);
        assert_eq!(table(10.9, 9.2, 90.0).worse_than(&before, 1.1), Vec::<String>::new());
        assert_eq!(
            table(12.0, 5.0, 10.0).worse_than(&before, 1.1),
            ["time: 1.20 times as bad as 10.0 ms", "speed: 2.00 times as bad as 10.0"]
        );
        assert_eq!(table(12.0, 5.0, 10.0).worse_than(&Table::default(), 1.1), Vec::<String>::new());
    }

    #[test]
    fn amounts_have_three_digits() {
        let shown = [(7.4567, "ms"), (63.08, "MB"), (1_234.5, "pages/s"), (2.0, ""), (0.0567, "")]
            .map(|(v, unit)| amount(v, unit));
        assert_eq!(shown, ["7.46 ms", "63.1 MB", "1234 pages/s", "2.00", "0.057"]);
    }
}

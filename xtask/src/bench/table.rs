//! Figures, and the bars that some are held against.

use std::io::{self, Write};

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    value: f64,
    unit: &'static str,
    at_most: Option<f64>,
}

impl Table {
    /// A figure.
    pub(crate) fn figure(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        self.rows.push(Row { what: what.into(), value, unit, at_most: None });
    }

    /// A figure that must not be larger than its bar.
    pub(crate) fn barred(&mut self, what: impl Into<String>, value: f64, unit: &'static str, at_most: f64) {
        self.rows.push(Row { what: what.into(), value, unit, at_most: Some(at_most) });
    }

    /// The figures that are over their bars.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.rows.iter().filter(|row| row.is_missed());
        missed.map(|row| format!("{}: {}", row.what, amount(row.value, row.unit))).collect()
    }

    /// Prints it, as Markdown.
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
    /// What is no number holds no bar.
    fn is_missed(&self) -> bool {
        self.at_most.is_some_and(|bar| self.value.is_nan() || self.value > bar)
    }

    fn cells(&self) -> [String; 4] {
        let bar = self.at_most.map(|bar| format!("at most {bar} {}", self.unit)).unwrap_or_default();
        let held = match self.at_most {
            None => "",
            Some(_) if self.is_missed() => "NO",
            Some(_) => "yes",
        };
        [self.what.clone(), amount(self.value, self.unit), bar, held.to_owned()]
    }
}

/// With three digits that count.
fn amount(value: f64, unit: &str) -> String {
    let places = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
    format!("{value:.places$} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_missed_by_what_is_above_it_and_by_what_is_no_number() {
        let mut table = Table::default();
        table.figure("free", 1e9, "ms");
        table.barred("just so", 10.0, "ms", 10.0);
        assert_eq!(table.missed(), Vec::<String>::new());
        table.barred("too much", 10.004, "ms", 10.0);
        table.barred("nothing", f64::NAN, "ms", 10.0);
        assert_eq!(table.missed(), ["too much: 10.0 ms", "nothing: NaN ms"]);
    }

    #[test]
    fn amounts_have_three_digits() {
        let shown = [(7.4567, "ms"), (63.08, "MB"), (1_234.5, "pages/s"), (2.0, "")].map(|(v, unit)| amount(v, unit));
        assert_eq!(shown, ["7.46 ms", "63.1 MB", "1234 pages/s", "2.00"]);
    }
}

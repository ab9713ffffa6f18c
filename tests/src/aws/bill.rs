//! A bill: the metered counts at list prices, line by line; its sum leaves nothing out.

use super::meter::{Counted, Line, Metered};
use super::prices::dollars;
use super::unit::Unit;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines with a smaller share of the sum are combined into one when printed.
const SMALL_SHARE: f64 = 0.002;

/// A line with its price.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The subject of the line.
    pub line: Line,
    /// Number of calls, which is a fraction once the bill is scaled.
    pub calls: f64,
    /// Number of units.
    pub units: f64,
    /// Price of these units.
    pub dollars: f64,
}

/// Rows of a bill, the most expensive first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    rows: Vec<Row>,
}

impl Bill {
    /// Returns the bill for these counts.
    pub fn of(metered: &Metered) -> Bill {
        let row = |(line, counted): (&Line, &Counted)| Row {
            line: line.clone(),
            calls: counted.calls as f64,
            units: counted.units,
            dollars: dollars(line.unit, counted.units),
        };
        Bill::sorted(metered.lines.iter().map(row).collect())
    }

    fn sorted(mut rows: Vec<Row>) -> Bill {
        rows.sort_by(|a, b| b.dollars.total_cmp(&a.dollars).then_with(|| a.line.cmp(&b.line)));
        Bill { rows }
    }

    /// Returns all rows, the most expensive first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the sum, in dollars.
    pub fn total(&self) -> f64 {
        self.rows.iter().map(|row| row.dollars).sum()
    }

    /// Returns the bill multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Bill {
        let scaled = |row: &Row| Row {
            line: row.line.clone(),
            calls: row.calls * factor,
            units: row.units * factor,
            dollars: row.dollars * factor,
        };
        Bill { rows: self.rows.iter().map(scaled).collect() }
    }

    /// Returns both bills as one, with equal lines added up.
    #[must_use]
    pub fn and(&self, other: &Bill) -> Bill {
        let mut lines: BTreeMap<&Line, Row> = BTreeMap::new();
        for row in self.rows.iter().chain(&other.rows) {
            let sum =
                lines.entry(&row.line).or_insert_with(|| Row { calls: 0.0, units: 0.0, dollars: 0.0, ..row.clone() });
            sum.calls += row.calls;
            sum.units += row.units;
            sum.dollars += row.dollars;
        }
        Bill::sorted(lines.into_values().collect())
    }

    /// Returns the bill of the rows that `wanted` accepts.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&Row) -> bool) -> Bill {
        Bill { rows: self.rows.iter().filter(|row| wanted(row)).cloned().collect() }
    }

    /// Returns a Markdown table with each line, its share, and the sum. Small lines are combined, and unpriced calls
    /// are named.
    pub fn table(&self) -> String {
        let total = self.total();
        let small = |row: &&Row| row.dollars < total * SMALL_SHARE;
        let mut text = String::from(
            "| service | of | what | by | counted in | source | units | dollars | share |\n|---|---|---|---|---|---|---:|---:|---:|\n",
        );
        for row in self.rows.iter().filter(|row| !small(row) && row.dollars > 0.0) {
            let Line { service, target, operation, caller, unit, source } = &row.line;
            let _ = writeln!(
                text,
                "| {} | {target} | {operation} | {caller} | {} | {} | {} | {:.4} | {:.1} % |",
                service.as_str(),
                unit.as_str(),
                source.as_str(),
                count(row.units),
                row.dollars,
                100.0 * row.dollars / total
            );
        }
        let priced = |row: &&Row| row.dollars > 0.0;
        let rest: Vec<&Row> = self.rows.iter().filter(small).filter(priced).collect();
        if !rest.is_empty() {
            let sum: f64 = rest.iter().map(|row| row.dollars).sum();
            let share = 100.0 * sum / total;
            let _ = writeln!(text, "| {} smaller lines | | | | | | | {sum:.4} | {share:.1} % |", rest.len());
        }
        let _ = writeln!(text, "| **sum** | | | | | | | **{total:.4}** | |");
        for row in self.rows.iter().filter(|row| row.line.unit == Unit::Unpriced) {
            let _ =
                writeln!(text, "\nNot priced: {} calls, {} {}.", count(row.calls), row.line.operation, row.line.target);
        }
        text
    }

    /// Returns the sum of each service, in dollars, the most expensive first.
    pub fn by_service(&self) -> Vec<(&'static str, f64)> {
        let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
        for row in &self.rows {
            *sums.entry(row.line.service.as_str()).or_default() += row.dollars;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }
}

/// Formats a number with thousands separators; small numbers get decimals.
fn count(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::call::Service;
    use super::super::meter::Source;
    use super::*;

    fn line(target: &str, unit: Unit) -> Line {
        Line::new(Service::DynamoDb, target, "PutItem", unit, Source::Metered)
    }

    fn bill(lines: &[(Line, u64, f64)]) -> Bill {
        let mut metered = Metered::default();
        lines.iter().for_each(|(line, calls, units)| metered.add(line.clone(), *calls, *units));
        Bill::of(&metered)
    }

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn units_times_price_summed_and_scaled() {
        let bill = bill(&[(line("a", Unit::Write), 10, 2000.0), (line("b", Unit::Read), 10, 4000.0)]);
        close(bill.total(), 2000.0 * 0.625e-6 + 4000.0 * 0.125e-6);
        close(bill.scaled(1e6 / 500.0).total(), 3.5);
        assert_eq!(bill.rows()[0].line.target, "a", "the most expensive row comes first");
        close(bill.and(&bill).total(), 2.0 * bill.total());
        assert_eq!(bill.and(&bill).rows().len(), 2, "equal lines become one");
        assert_eq!(bill.by_service().len(), 1);
    }

    #[test]
    fn the_table_hides_nothing() {
        let lines = [
            (line("large", Unit::Write), 1, 1e6),
            (line("small", Unit::Write), 1, 10.0),
            (line("tiny", Unit::Read), 1, 10.0),
            (line("odd", Unit::Unpriced), 3, 3.0),
        ];
        let table = bill(&lines).table();
        for part in [
            "| large | PutItem |  | write unit | metered | 1,000,000 | 0.6250 | 100.0 % |",
            "| 2 smaller lines |",
            "| **sum** | | | | | | | **0.6250** | |",
            "Not priced: 3.00 calls, PutItem odd.",
        ] {
            assert!(table.contains(part), "{part}: {table}");
        }
    }

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!([1.5, 100.0, 1000.0, 1_234_567.0].map(count), ["1.50", "100", "1,000", "1,234,567"]);
    }
}

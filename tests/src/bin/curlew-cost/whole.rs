//! The whole bill: the metered cost and the other costs of a stack, at list price and after the free tiers that do not
//! expire.

use curlew_tests::aws::bill::Bill;
use curlew_tests::aws::prices::{
    ALARM_METRIC, CUSTOM_METRIC, FREE_ALARM_METRICS, FREE_CUSTOM_METRICS, FREE_TRAFFIC, TABLE_COPY_GB, TRAFFIC_A_GB,
    dollars, lasting_free,
};
use curlew_tests::aws::unit::Unit;
use std::fmt::Write as _;

/// Number of metrics that the alarms of `infra/watch.yaml` watch.
const ALARMS: f64 = 5.0;
/// Bytes in a gigabyte, as AWS bills them here.
const GB: f64 = 1e9;

/// The lines of a bill, each with the units that it sums.
const METERED: [(&str, &[Unit]); 6] = [
    ("DynamoDB, requests", &[Unit::Write, Unit::Read]),
    ("Lambda", &[Unit::LambdaRequest, Unit::GbSecondArm64, Unit::GbSecondX86]),
    ("SQS", &[Unit::SqsRequest]),
    ("S3, requests", &[Unit::S3Write, Unit::S3Read]),
    ("Scheduler", &[Unit::Schedule]),
    ("log lines", &[Unit::LogByte]),
];

/// Monthly costs in addition to the metered calls.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside {
    /// Bytes of all rows.
    pub(crate) table_bytes: f64,
    /// Bytes of all objects.
    pub(crate) object_bytes: f64,
    /// Bytes sent to sites.
    pub(crate) traffic: f64,
    /// Number of custom metrics that are written in an average hour.
    pub(crate) metrics: f64,
}

/// A sum at list price, and the rest of it after the free tiers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Due {
    list: f64,
    after_free: f64,
}

impl Due {
    fn new(price: f64, number: f64, free: f64) -> Due {
        Due { list: price * number, after_free: price * (number - free).max(0.0) }
    }

    fn and(self, other: Due) -> Due {
        Due { list: self.list + other.list, after_free: self.after_free + other.after_free }
    }
}

/// Returns the amounts due for one bill, line by line.
fn lines(bill: &Bill, beside: &Beside) -> Vec<(&'static str, Due)> {
    let of_unit = |unit: &Unit| {
        let units = bill.rows().iter().filter(|row| row.line.unit == *unit).map(|row| row.units).sum();
        Due::new(dollars(*unit, 1.0), units, lasting_free(*unit))
    };
    let metered = METERED.iter().map(|(name, units)| (*name, units.iter().map(of_unit).fold(Due::default(), Due::and)));
    let rows = Due::new(dollars(Unit::TableByteMonth, 1.0), beside.table_bytes, lasting_free(Unit::TableByteMonth));
    let copies = Due::new(TABLE_COPY_GB / GB, beside.table_bytes, 0.0);
    metered
        .chain([
            ("tables, stored, with their recovery", rows.and(copies)),
            ("bucket, stored", Due::new(dollars(Unit::S3ByteMonth, 1.0), beside.object_bytes, 0.0)),
            ("traffic to sites", Due::new(TRAFFIC_A_GB / GB, beside.traffic, FREE_TRAFFIC)),
            ("alarms", Due::new(ALARM_METRIC, ALARMS, FREE_ALARM_METRICS)),
            ("metrics of its own", Due::new(CUSTOM_METRIC, beside.metrics, FREE_CUSTOM_METRICS)),
        ])
        .collect()
}

/// Returns a table of everyday use and of an idle stack.
pub(crate) fn table(everyday: &Bill, stored: &Beside, idle: &Bill) -> String {
    let mut text = String::from(
        "| a month, dollars | everyday, list | after lasting free tiers | idle, list | after lasting free tiers |\n\
         |---|---:|---:|---:|---:|\n",
    );
    let mut sum = (Due::default(), Due::default());
    for ((name, busy), (_, quiet)) in lines(everyday, stored).into_iter().zip(lines(idle, &Beside::default())) {
        sum = (sum.0.and(busy), sum.1.and(quiet));
        let _ = writeln!(
            text,
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
            busy.list, busy.after_free, quiet.list, quiet.after_free
        );
    }
    let (busy, quiet) = sum;
    let _ = writeln!(
        text,
        "| **all of it** | **{:.2}** | **{:.2}** | **{:.2}** | **{:.2}** |",
        busy.list, busy.after_free, quiet.list, quiet.after_free
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_tests::aws::call::Service;
    use curlew_tests::aws::meter::{Line, Metered, Source};

    #[test]
    fn every_metered_unit_and_all_that_stands_beside_is_in_the_sum() {
        let mut metered = Metered::default();
        for unit in Unit::ALL {
            metered.add(Line::new(Service::Sqs, "", "", unit, Source::Modelled), 1, 30e6);
        }
        let bill = Bill::of(&metered);
        let stored = Beside { table_bytes: 30e9, object_bytes: 10e9, traffic: 101e9, metrics: 2.0 };
        let sum = lines(&bill, &stored).into_iter().fold(Due::default(), |sum, (_, due)| sum.and(due));
        let in_storage = dollars(Unit::S3ByteMonth, 30e6) + dollars(Unit::TableByteMonth, 30e6);
        let beside = 30.0 * 0.45 + 10.0 * 0.023 + 101.0 * 0.09 + 5.0 * 0.1 + 2.0 * 0.3;
        assert!((sum.list - (bill.total() - in_storage + beside)).abs() < 1e-6, "{sum:?}");
        let free = 25.0 * 0.25
            + 100.0 * 0.09
            + 0.5
            + 0.6
            + dollars(Unit::SqsRequest, 1e6)
            + dollars(Unit::LambdaRequest, 1e6)
            + dollars(Unit::GbSecondArm64, 4e5)
            + dollars(Unit::Schedule, 14e6)
            + dollars(Unit::LogByte, 30e6);
        assert!((sum.list - sum.after_free - free).abs() < 1e-6, "{sum:?} {free}");
    }
}

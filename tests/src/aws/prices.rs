//! The list prices of a bill: one table, on demand, us-east-1, without a free tier and without traffic.
//!
//! Prices change: compare [`LIST`] with the pages that it names before you publish a figure that is made of them.

use super::unit::Unit;

/// Month in which the prices were read from the pages that [`LIST`] names.
pub const READ_ON: &str = "2026-11";

/// Region of the prices.
pub const REGION: &str = "us-east-1";

/// Costs that no bill includes, as a sentence that is printed with each.
pub const LEFT_OUT: &str =
    "List prices, no free tier. Not in it: traffic, storage, point-in-time recovery, metrics, alarms and dashboards.";

/// One list price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The unit.
    pub unit: Unit,
    /// Dollars for a million units.
    pub dollars_per_million: f64,
    /// The page of aws.amazon.com with the price.
    pub page: &'static str,
}

/// Every price, one row for each kind of [`Unit`].
pub const LIST: [Price; 14] = [
    // $0.625 per million write request units, standard table class.
    price(Unit::Write, 0.625, "DynamoDB pricing, on-demand capacity"),
    // $0.125 per million read request units, standard table class.
    price(Unit::Read, 0.125, "DynamoDB pricing, on-demand capacity"),
    price(Unit::SqsRequest, 0.40, "SQS pricing, standard queues"),
    // $0.005 per 1,000 PUT, COPY, POST, LIST requests.
    price(Unit::S3Write, 5.0, "S3 pricing, S3 Standard, requests"),
    // $0.0004 per 1,000 GET, SELECT and all other requests.
    price(Unit::S3Read, 0.40, "S3 pricing, S3 Standard, requests"),
    price(Unit::LambdaRequest, 0.20, "Lambda pricing, requests"),
    // $0.0000133334 per GB-second.
    price(Unit::GbSecondArm64, 13.3334, "Lambda pricing, arm64, first tier"),
    // $0.0000166667 per GB-second.
    price(Unit::GbSecondX86, 16.6667, "Lambda pricing, x86_64, first tier"),
    price(Unit::Schedule, 1.0, "EventBridge pricing, Scheduler"),
    // $0.50 per GB taken in, standard class; a GB of 10^9 bytes, which is the dearer reading.
    price(Unit::LogByte, 0.0005, "CloudWatch pricing, logs, collect"),
    // $0.023 per GB and month.
    price(Unit::S3ByteMonth, 0.000_023, "S3 pricing, S3 Standard, storage, first tier"),
    // $0.25 per GB and month.
    price(Unit::TableByteMonth, 0.000_25, "DynamoDB pricing, data storage"),
    price(Unit::Free, 0.0, "S3 pricing: DELETE and CANCEL requests are free; DynamoDB: control plane"),
    // Counted, so that nobody overlooks it; many such calls mean an error of the meter.
    price(Unit::Unpriced, 0.0, "calls to services that have no price in this table"),
];

const fn price(unit: Unit, dollars_per_million: f64, page: &'static str) -> Price {
    Price { unit, dollars_per_million, page }
}

/// Price of a GB sent to the internet, in dollars, beyond the 100 GB a month that are free (EC2 pricing, data
/// transfer).
pub const TRAFFIC_A_GB: f64 = 0.09;
/// Bytes of that free traffic.
pub const FREE_TRAFFIC: f64 = 100e9;
/// Price of a GB of a table for which point-in-time recovery is on, in dollars a month (DynamoDB pricing, backup).
pub const TABLE_COPY_GB: f64 = 0.20;
/// Price of a metric that an alarm looks at, in dollars a month (CloudWatch pricing).
pub const ALARM_METRIC: f64 = 0.10;
/// Metrics of alarms that are free for good.
pub const FREE_ALARM_METRICS: f64 = 10.0;
/// Price of a metric of one's own that is written all month, in dollars (CloudWatch pricing).
pub const CUSTOM_METRIC: f64 = 0.30;
/// Metrics of one's own that are free for good.
pub const FREE_CUSTOM_METRICS: f64 = 10.0;

/// Returns how many units a month are free for an account, not only in its first year. Request units of DynamoDB are
/// not: its 25 units a second are of provisioned capacity.
pub fn lasting_free(unit: Unit) -> f64 {
    match unit {
        Unit::SqsRequest | Unit::LambdaRequest => 1e6,
        // One allowance for both architectures, of which a stack has one.
        Unit::GbSecondArm64 => 400_000.0,
        Unit::Schedule => 14e6,
        Unit::LogByte => 5e9,
        Unit::TableByteMonth => 25e9,
        _ => 0.0,
    }
}

/// Part of provisioned capacity that auto scaling aims at.
pub const PROVISIONED_USE: f64 = 0.7;
/// Price of an hour of a write and of a read unit of provisioned capacity, in dollars (DynamoDB pricing, provisioned).
const WRITE_HOUR: f64 = 0.000_65;
const READ_HOUR: f64 = 0.000_13;

/// Returns the price of provisioned write units for some seconds.
pub fn provisioned_write(units: f64, seconds: f64) -> f64 {
    units * seconds / 3_600.0 * WRITE_HOUR
}

/// Returns the price of provisioned read units for some seconds.
pub fn provisioned_read(units: f64, seconds: f64) -> f64 {
    units * seconds / 3_600.0 * READ_HOUR
}

/// Returns the price of a number of units, in dollars.
pub fn dollars(unit: Unit, units: f64) -> f64 {
    let price = LIST.iter().find(|price| price.unit == unit).unwrap_or_else(|| panic!("{unit:?} has no price"));
    units * price.dollars_per_million / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_one_price() {
        for unit in Unit::ALL {
            assert_eq!(LIST.iter().filter(|price| price.unit == unit).count(), 1, "{unit:?}");
        }
        assert_eq!(LIST.len(), Unit::ALL.len());
    }

    #[test]
    fn dollars_are_per_million() {
        assert!((dollars(Unit::Write, 4e6) - 2.5).abs() < 1e-12);
        assert!((dollars(Unit::S3Write, 1e3) - 0.005).abs() < 1e-12);
        assert!((dollars(Unit::LogByte, 2e9) - 1.0).abs() < 1e-12);
    }
}

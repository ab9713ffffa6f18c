//! The list prices of a bill: one table, on demand, us-east-1, without a free tier and without traffic.
//!
//! Prices change. Compare [`LIST`] with the pages that it names before you publish a figure that is based on it.

use super::unit::Unit;

/// Month in which the prices were read from the pages that [`LIST`] names.
pub const READ_ON: &str = "2026-11";

/// Region of the prices.
pub const REGION: &str = "us-east-1";

/// A sentence, printed with every bill, about the costs that the bill does not include.
pub const LEFT_OUT: &str =
    "List prices, no free tier. Not in it: traffic, storage, point-in-time recovery, metrics, alarms and dashboards.";

/// One list price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The unit.
    pub unit: Unit,
    /// Dollars per million units.
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
    // $0.50 per GB ingested, standard class. A GB is read as 10^9 bytes, which is the more expensive reading.
    price(Unit::LogByte, 0.0005, "CloudWatch pricing, logs, collect"),
    // $0.023 per GB and month.
    price(Unit::S3ByteMonth, 0.000_023, "S3 pricing, S3 Standard, storage, first tier"),
    // $0.25 per GB and month.
    price(Unit::TableByteMonth, 0.000_25, "DynamoDB pricing, data storage"),
    price(Unit::Free, 0.0, "S3 pricing: DELETE and CANCEL requests are free; DynamoDB: control plane"),
    // Such calls are counted, so that nobody overlooks them; many of them indicate an error of the meter.
    price(Unit::Unpriced, 0.0, "calls to services that have no price in this table"),
];

const fn price(unit: Unit, dollars_per_million: f64, page: &'static str) -> Price {
    Price { unit, dollars_per_million, page }
}

/// Price of a GB sent to the internet, in dollars, beyond the 100 GB per month that are free (EC2 pricing, data
/// transfer).
pub const TRAFFIC_A_GB: f64 = 0.09;
/// Bytes of free traffic to the internet per month.
pub const FREE_TRAFFIC: f64 = 100e9;
/// Price of point-in-time recovery for a GB of a table, in dollars per month (DynamoDB pricing, backup).
pub const TABLE_COPY_GB: f64 = 0.20;
/// Price of a metric that an alarm watches, in dollars per month (CloudWatch pricing).
pub const ALARM_METRIC: f64 = 0.10;
/// Number of alarm metrics that are always free.
pub const FREE_ALARM_METRICS: f64 = 10.0;
/// Price of a custom metric that is written all month, in dollars (CloudWatch pricing).
pub const CUSTOM_METRIC: f64 = 0.30;
/// Number of custom metrics that are always free.
pub const FREE_CUSTOM_METRICS: f64 = 10.0;

/// Returns how many units per month are always free for an account, not only in its first year. DynamoDB's request
/// units are not free: its 25 free units per second are of provisioned capacity.
pub fn lasting_free(unit: Unit) -> f64 {
    match unit {
        Unit::SqsRequest | Unit::LambdaRequest => 1e6,
        // Both architectures share one allowance, and a stack uses one architecture.
        Unit::GbSecondArm64 => 400_000.0,
        Unit::Schedule => 14e6,
        Unit::LogByte => 5e9,
        Unit::TableByteMonth => 25e9,
        _ => 0.0,
    }
}

/// Utilization of provisioned capacity that auto scaling aims at.
pub const PROVISIONED_USE: f64 = 0.7;
/// Price of one hour of a provisioned write unit and of a read unit, in dollars (DynamoDB pricing, provisioned).
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

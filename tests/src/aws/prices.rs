//! The list prices that a bill is made of: one table, on demand, us-east-1, without a free tier and without traffic.
//!
//! Prices change: before a figure made of them is published, hold [`LIST`] against the pages that it names.

use super::unit::Unit;

/// When the prices were read from the pages that [`LIST`] names.
pub const READ_ON: &str = "2026-11";

/// Whose prices they are.
pub const REGION: &str = "us-east-1";

/// What no bill holds, in a sentence that is printed with each.
pub const LEFT_OUT: &str =
    "List prices, no free tier. Not in it: traffic, storage, point-in-time recovery, metrics, alarms and dashboards.";

/// One list price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// What is counted.
    pub unit: Unit,
    /// Dollars for a million of them.
    pub dollars_per_million: f64,
    /// The page of aws.amazon.com that says so.
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
    // Counted, so that nobody overlooks it; it is an error of the meter if anything of weight is found here.
    price(Unit::Unpriced, 0.0, "calls to services that have no price in this table"),
];

const fn price(unit: Unit, dollars_per_million: f64, page: &'static str) -> Price {
    Price { unit, dollars_per_million, page }
}

/// What so many units cost, in dollars.
///
/// # Panics
/// If [`LIST`] has no price for the unit; a test sees to it that it has.
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

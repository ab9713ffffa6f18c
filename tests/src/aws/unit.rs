//! Units of AWS's bills, and the steps in which they are counted.

/// Bytes of one write unit of DynamoDB; a partial one counts as a whole.
pub const WRITE_STEP: usize = 1024;
/// Bytes of one read unit of DynamoDB; a partial one counts as a whole.
pub const READ_STEP: usize = 4 * 1024;
/// Bytes of one request to SQS; a partial one counts as a whole.
pub const SQS_STEP: usize = 64 * 1024;
/// Memory with which a function has one whole core, in megabytes (Lambda's guide, memory and computing power).
pub const MEMORY_OF_A_CORE: f64 = 1769.0;

/// A unit that has a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A write request unit of DynamoDB.
    Write,
    /// A read request unit of DynamoDB; an eventually consistent read takes half of one.
    Read,
    /// A request to SQS, of 64 KiB.
    SqsRequest,
    /// A request to S3 of the expensive class: PUT, COPY, POST, LIST.
    S3Write,
    /// A request to S3 of the cheap class: GET and all others that are not free.
    S3Read,
    /// An invocation of a function.
    LambdaRequest,
    /// A gigabyte of a function's memory for a second, on arm64.
    GbSecondArm64,
    /// A gigabyte of a function's memory for a second, on x86_64.
    GbSecondX86,
    /// An invocation by EventBridge Scheduler.
    Schedule,
    /// A byte of log lines ingested by CloudWatch.
    LogByte,
    /// A byte stored in S3 for a month.
    S3ByteMonth,
    /// A byte stored in DynamoDB for a month.
    TableByteMonth,
    /// A call that is free according to the price list.
    Free,
    /// A call to a service without a price in the list.
    Unpriced,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 14] = [
        Unit::Write,
        Unit::Read,
        Unit::SqsRequest,
        Unit::S3Write,
        Unit::S3Read,
        Unit::LambdaRequest,
        Unit::GbSecondArm64,
        Unit::GbSecondX86,
        Unit::Schedule,
        Unit::LogByte,
        Unit::S3ByteMonth,
        Unit::TableByteMonth,
        Unit::Free,
        Unit::Unpriced,
    ];

    /// Returns its name in a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Write => "write unit",
            Unit::Read => "read unit",
            Unit::SqsRequest => "request of 64 KB",
            Unit::S3Write => "PUT class",
            Unit::S3Read => "GET class",
            Unit::LambdaRequest => "invocation",
            Unit::GbSecondArm64 => "GB-s arm64",
            Unit::GbSecondX86 => "GB-s x86_64",
            Unit::Schedule => "schedule",
            Unit::LogByte => "log byte",
            Unit::S3ByteMonth | Unit::TableByteMonth => "byte-month",
            Unit::Free => "free",
            Unit::Unpriced => "no price",
        }
    }
}

/// Returns the number of steps for a number of bytes, at least one.
pub fn steps(bytes: usize, step: usize) -> f64 {
    bytes.div_ceil(step).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_begun_step_counts_and_nothing_counts_as_one() {
        let counted = [0, 1, 1024, 1025, 4096].map(|bytes| steps(bytes, WRITE_STEP));
        assert_eq!(counted, [1.0, 1.0, 1.0, 2.0, 4.0]);
        assert_eq!((steps(4096, READ_STEP), steps(4097, READ_STEP)), (1.0, 2.0));
    }
}

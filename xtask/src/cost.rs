//! `cargo xtask cost [OPTION…]`: what Curlew costs on AWS at list prices, metered on an emulator (BENCHMARKS.md).

use crate::run::{program, run, target};
use crate::{functions, tools};
use anyhow::Result;

pub(crate) fn cost(options: &[String]) -> Result<()> {
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    // What is metered is compiled as it is deployed; the programs that only drive it, as for the tests.
    let (stack, programs) = (functions::release()?, functions::build_programs()?);
    run(program(target()?.join("debug/curlew-cost"))
        .args(options)
        .env("CURLEW_BIN", programs.join("curlew"))
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", stack))
}

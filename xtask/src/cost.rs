//! `cargo xtask cost [OPTION…]`: what Curlew costs on AWS at list prices, metered on an emulator (BENCHMARKS.md).

use crate::run::{cargo, program, run, target};
use crate::{functions, tools};
use anyhow::Result;

pub(crate) fn cost(options: &[String]) -> Result<()> {
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    let built = functions::release()?;
    run(cargo().args(["build", "--locked", "-p", "curlew-tests", "--bin", "curlew-cost"]))?;
    run(program(target()?.join("debug/curlew-cost"))
        .args(options)
        .env("CURLEW_BIN", built.programs.join("curlew"))
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", built.stack))
}

//! `cargo xtask cost [OPTION…]`: what Curlew costs on AWS at list prices, metered on an emulator (BENCHMARKS.md).

use crate::run::{cargo, program, run};
use crate::test::target;
use crate::{functions, tools};
use anyhow::Result;

pub(crate) fn cost(options: &[String]) -> Result<()> {
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew"]))?;
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew-tests", "--bin", "curlew-cost"]))?;
    let functions = functions::build()?;
    let built = target()?.join("release");
    run(program(built.join("curlew-cost"))
        .args(options)
        .env("CURLEW_BIN", built.join("curlew"))
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", functions))
}

//! `cargo xtask cost [OPTION…]`: what Curlew costs on AWS at list prices, metered on an emulator, or with `--steady` in
//! simulated time (BENCHMARKS.md).

use crate::functions::FEATURES;
use crate::run::{cargo, program, run, target};
use crate::{functions, tools};
use anyhow::Result;

/// The program that meters.
const METER: &str = "curlew-cost";

pub(crate) fn cost(options: &[String]) -> Result<()> {
    if options.iter().any(|option| option == "--steady") {
        run(cargo().args(["build", "--workspace", "--bin", METER, "--locked", "--features", FEATURES]))?;
        return run(program(target()?.join("debug").join(METER)).args(options));
    }
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    // What is metered is compiled as it is deployed; the programs that only drive it, as for the tests.
    let (stack, programs) = (functions::release()?, functions::build_programs("--bins")?);
    run(program(target()?.join("debug").join(METER))
        .args(options)
        .env("CURLEW_BIN", programs.join("curlew"))
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", stack))
}

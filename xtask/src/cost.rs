//! `cargo xtask cost [OPTION…]`: measures what Curlew costs on AWS at list prices, on an emulator or, with `--steady`,
//! in simulated time (BENCHMARKS.md).

use crate::functions::FEATURES;
use crate::run::{cargo, program, run, target};
use crate::{functions, tools};
use anyhow::Result;

/// The program that measures.
const METER: &str = "curlew-cost";

pub(crate) fn cost(options: &[String]) -> Result<()> {
    if options.iter().any(|option| option == "--steady") {
        run(cargo().args(["build", "--workspace", "--bin", METER, "--locked", "--features", FEATURES]))?;
        return run(program(target()?.join("debug").join(METER)).args(options));
    }
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    // The measured functions are compiled as they are deployed; the programs that only drive them, as for the tests.
    let (stack, programs) = (functions::release()?, functions::build_programs("--bins")?);
    run(program(target()?.join("debug").join(METER))
        .args(options)
        .env("CURLEW_BIN", programs.join("curlew"))
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", stack))
}

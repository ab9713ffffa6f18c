//! Development tasks, run as `cargo xtask TASK`.
//!
//! Each task installs the tools that it needs (see [`tools`]) into `.tools/`, which git ignores, and prints its steps.
#![allow(clippy::print_stderr, reason = "a task talks to the person who started it")]

mod bench;
mod cost;
mod dist;
mod docs;
mod emulator;
mod functions;
mod fuzz;
mod learn;
mod lint;
mod run;
mod score;
mod test;
mod tools;
mod wheel;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK

  bench [PART…]      processor time, memory and speed of the release binaries, held against their bars (BENCHMARKS.md);
                     with --against REVISION before the parts, also against the program of that revision, in turn
  cost [OPTION…]     what AWS would bill, metered on an emulator, held against its bars; with --steady a month of everyday
                     use, in simulated time (BENCHMARKS.md)
  dist [PROGRAM]     the archive, the Debian package and the image to install, with checksums and licences, in target/dist/;
                     of a PROGRAM that is built already, as the tests want them, in target/packages/
  docs               the site of docs/ into target/site/; dead links are errors
  fuzz [SECONDS] [TARGET…]  every fuzz target for a minute each (fuzz/)
  learn PATH         what a block is, from labelled pages that lie at PATH: the model of extraction and its figures
  lint               formatting, clippy, the rules for dependencies (deny.toml), the template (infra/), the site of docs/
  nightly            what proves a thing a second time: packages, libraries, the wheel, more seeds, every page in every
                     form, fuzzing, and the benches of a crawl against the program of the last version
  release            the functions as they are deployed, by `sam build`, each zip held against its bar (BENCHMARKS.md)
  score PATH [PART…] how right `curlew check` is on labelled pages, feeds and robots.txt files that lie at PATH (BENCHMARKS.md)
  test [ARGS…]       the tests of every day; ARGS go to `cargo nextest run`, as in: cargo xtask test -E 'test(robots)'
  wheel [PATH]       the extractor for Python (contrib/python), compared with trafilatura on pages that lie at PATH";

/// Exit code for wrong usage, as in `curlew`.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first().map(|(task, rest)| (task.as_str(), rest)) {
        Some(("bench", parts)) => bench::bench(parts),
        Some(("cost", options)) => cost::cost(options),
        Some(("dist", [])) => dist::dist(),
        Some(("dist", [program])) => dist::for_tests(program.as_ref()).map(drop),
        Some(("docs", [])) => docs::docs(),
        Some(("fuzz", words)) => fuzz::fuzz(words),
        Some(("learn", words)) => learn::learn(words),
        Some(("lint", [])) => lint::lint(true),
        Some(("nightly", [])) => test::nightly(),
        Some(("release", [])) => functions::release().map(drop),
        Some(("score", words)) => score::score(words),
        Some(("test", rest)) => test::test(rest),
        Some(("wheel", words)) => wheel::wheel(words),
        Some(("help" | "--help" | "-h", _)) => {
            eprintln!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(WRONG_USAGE);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

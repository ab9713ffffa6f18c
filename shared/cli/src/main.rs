//! `curlew`: the local runner and the operator's commands.

mod args;
mod check;
mod commands;
mod config;
mod failure;
mod front;
mod output;
mod progress;
mod runner;
mod world;

use anyhow::Result;
use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use commands::Place;
use config::Config;
use curlew_wiring::LogForm;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Help and version are printed as they are; wrong usage is one line that says what is wrong and where to look.
fn unparsed(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::error_line(&text);
        return ExitCode::from(2);
    }
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("tip: to pass"));
    let what = lines.next().unwrap_or_default().trim_start_matches("error: ");
    // What is missing, or what a value may be, stands in the lines that follow.
    let more: Vec<&str> = lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")).collect();
    let more = if more.is_empty() { String::new() } else { format!(" {}", more.join(" ")) };
    output::error_line(&format!("curlew: {what}{more} (see `curlew --help`)"));
    ExitCode::from(2)
}

/// `curlew export records | head` is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(cli: Cli) -> Result<()> {
    if let Command::Check { what } = cli.command {
        return check::run(what, &cli.shared);
    }
    let config = config::load(&cli.shared, std::env::vars())?;
    start_log(&config, cli.shared.verbose);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(commands::run(cli.command, config, Place::of(&cli.shared)));
    // What still waits for a socket or a disk is not waited for: every step may run twice.
    runtime.shutdown_background();
    done
}

fn start_log(config: &Config, verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info,curlew=info",
        _ => "debug,hyper=info,h2=info,rustls=info,reqwest=info,tantivy=warn",
    };
    let builder = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(level)).with_writer(std::io::stderr);
    match config.log {
        LogForm::Json => builder.json().flatten_event(true).init(),
        LogForm::Text => builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).init(),
    }
}

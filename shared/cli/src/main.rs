//! `curlew`: the local runner and the operator's commands.

mod apart;
mod args;
mod check;
mod commands;
mod doctor;
mod export;
mod failure;
mod history;
mod interruption;
mod log;
mod metrics;
mod optional;
mod output;
mod process;
mod progress;
mod recorder;
mod runner;
mod server;
mod status;
#[cfg(test)]
mod tests;
mod world;

use anyhow::Result;
use args::{Cli, Command};
use clap::error::ErrorKind;
use commands::Place;
use commands::config::load;
use curlew_app::LogForm;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Prints help and version unchanged, and wrong usage as one line that names the fault and the help to read.
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
    // The next lines name missing arguments, possible values, or a suggestion.
    let more: String = lines
        .take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"))
        .map(|line| line.strip_prefix("tip: ").map_or_else(|| format!(" {line}"), |tip| format!("; {tip}")))
        .collect();
    let command = args::command_of(std::env::args_os());
    output::error_line(format!("curlew: {what}{more} (see `{command} --help`)"));
    ExitCode::from(2)
}

/// Returns true if the reader closed the pipe, which is no failure: `curlew export records | head`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(Cli { shared, command }: Cli) -> Result<()> {
    match command {
        Command::Check(what) => check::run(what, &shared),
        Command::Config(what) if !shared.aws => commands::config::run(&what, &shared),
        Command::Init(args) => commands::config::init(&args),
        Command::Completions { shell } => commands::manual::completions(shell),
        Command::Man { folder } => commands::manual::pages(&folder),
        Command::Health { listen } => commands::health::run(listen),
        // Doctor runs even with invalid settings, and reports what is wrong with them.
        Command::Doctor(output) => {
            let loaded = load(&shared);
            let log = loaded.as_ref().map_or(LogForm::Text, |settings| settings.log);
            let work = doctor::run(loaded, shared.data.clone(), Place::new(&shared), output.json);
            on_runtime(log, shared.verbose, work)
        }
        command => {
            let config = load(&shared)?;
            on_runtime(config.log, shared.verbose, commands::run(command, config, Place::new(&shared)))
        }
    }
}

fn on_runtime(log: LogForm, verbose: u8, work: impl Future<Output = Result<()>>) -> Result<()> {
    log::start(log, verbose);
    server::descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // Abandon tasks that still wait for a socket or a disk: every step may run twice.
    runtime.shutdown_background();
    done
}

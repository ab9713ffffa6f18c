//! The log, on standard error. Fields may contain text from sites, so characters that control a terminal are escaped.

use crate::output::steers;
use curlew_app::LogForm;
use std::fmt::{self, Write};
use std::io::IsTerminal;
use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// Starts the log: warnings by default, level `info` with `-v`, and `debug` with `-vv`.
pub(crate) fn start(form: LogForm, verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info,curlew=info",
        _ => "debug,hyper=info,h2=info,rustls=info,reqwest=info,tantivy=warn",
    };
    let (registry, filter) = (tracing_subscriber::registry(), EnvFilter::new(level));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match form {
        LogForm::Json => registry.with(lines.json().flatten_event(true).with_filter(filter)).init(),
        LogForm::Text => {
            let lines = lines.with_target(false).with_ansi(std::io::stderr().is_terminal());
            registry.with(lines.fmt_fields(debug_fn(field).delimited(" ")).with_filter(filter)).init();
        }
    }
}

/// Writes a field for people: the message without its name, other fields with their names.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let mut writer = Escaping(writer);
    match field.name() {
        "message" => write!(writer, "{value:?}"),
        name => write!(writer, "{}={value:?}", name.strip_prefix("r#").unwrap_or(name)),
    }
}

/// A writer to `W` that escapes characters that control a terminal.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| steers(*c)) {
            self.0.write_str(&rest[..at])?;
            write!(self.0, "{}", c.escape_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Read, Seek};

    #[test]
    fn o09_no_field_of_a_log_line_steers_a_terminal() -> io::Result<()> {
        let mut kept = tempfile::tempfile()?;
        let log = tracing_subscriber::fmt().with_ansi(false).with_target(false).with_writer(kept.try_clone()?);
        let log = log.fmt_fields(debug_fn(field).delimited(" ")).finish();
        let trap = "<rss\u{1b}]0;PWNED\u{7}\r\n2026-01-01 ERROR forged\u{9b}31m \u{202e}gpj.exe\u{2066}\u{2028}";
        tracing::subscriber::with_default(log, || {
            tracing::warn!(shown = %trap, quoted = trap, debug = ?trap, number = 7, "a message {trap}");
        });
        let mut said = String::new();
        kept.rewind()?;
        kept.read_to_string(&mut said)?;
        let line = said.strip_suffix('\n').unwrap_or_default();
        assert!(!line.is_empty() && !line.contains(steers), "{line:?}");
        for part in
            ["shown=<rss\\u{1b}]0;PWNED\\u{7}\\r\\n", "number=7", "a message <rss", "\\u{202e}gpj.exe", "quoted=\"<rss"]
        {
            assert!(line.contains(&format!(" {part}")), "{part} is no field of {line}");
        }
        Ok(())
    }
}

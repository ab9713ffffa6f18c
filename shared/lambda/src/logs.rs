//! Log lines: one JSON object each, on standard output, which Lambda reads.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Default filter of log lines.
const USUAL: &str = "info,aws_config=warn,aws_smithy_runtime=warn,hyper=warn,lambda_runtime=warn";

/// Starts logging. `RUST_LOG` is a filter of tracing-subscriber and takes precedence over `AWS_LAMBDA_LOG_LEVEL`, the
/// level that is configured for the function.
pub(crate) fn start<W>(environment: &[(String, String)], lines_to: W)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let value = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_lowercase());
    let filter = value("RUST_LOG").or_else(|| value("AWS_LAMBDA_LOG_LEVEL")).unwrap_or_else(|| USUAL.to_owned());
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(USUAL));
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(true).with_span_list(false);
    // This fails only if logging has already started, as in a test.
    let _ = lines.with_env_filter(filter).with_writer(lines_to).try_init();
}

//! Connection to AWS: region, credentials, one HTTP client, timeouts and retries.

use crate::endpoint::{Endpoint, Inside};
use crate::jobs::wall_clock;
use crate::throttles::Throttles;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, SdkConfig};
use aws_smithy_http_client::tls;
use curlew_model::Timestamp;
use std::env;
use std::sync::Arc;
use std::time::Duration;

/// Maximum time to establish a connection.
const CONNECT_TIME: Duration = Duration::from_secs(3);
/// Maximum time to the first byte of a response.
const READ_TIME: Duration = Duration::from_secs(10);
/// Maximum time of one attempt of a call with a small response.
const TRY_TIME: Duration = Duration::from_secs(10);
/// Maximum time of all attempts of such a call. It does not apply to S3, since objects may be large: a transfer fails
/// when it stalls.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Maximum number of attempts of a call that fails temporarily, including the first.
const TRIES: u32 = 5;
/// Maximum pause between two attempts; pauses double, with random jitter.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Time after which unused connections are closed; the services close them after 20 s or more.
const IDLE_TIME: Duration = Duration::from_secs(15);
/// Environment variable with the address of an emulator; all AWS SDKs use it.
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// Configuration and HTTP client shared by all services. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Connection {
    config: SdkConfig,
    path_style: bool,
    throttles: Throttles,
    /// Clock of the queues.
    pub(crate) now: fn() -> Timestamp,
}

impl Connection {
    /// Creates a connection from the environment: region, credentials and `AWS_ENDPOINT_URL`, by the rules of all AWS
    /// SDKs. Makes no request; a wrong setting is reported by the first call that needs it.
    pub async fn from_environment() -> Connection {
        // An emulator at one address cannot serve bucket names as subdomains.
        let path_style = env::var_os(ENDPOINT).is_some_and(|url| !url.is_empty());
        Connection { config: loader().load().await, path_style, throttles: Throttles::default(), now: wall_clock }
    }

    /// Connects to an endpoint inside this process whose clock is `now`.
    pub async fn to_endpoint(endpoint: Arc<dyn Endpoint>, now: fn() -> Timestamp) -> Connection {
        let region = aws_config::Region::new("us-east-1");
        let loader = loader().http_client(Inside(endpoint)).endpoint_url("http://endpoint.test").region(region);
        let config = loader.test_credentials().load().await;
        Connection { config, path_style: true, throttles: Throttles::default(), now }
    }

    /// Connects to a test's server, with credentials that nobody checks.
    #[cfg(test)]
    pub(crate) async fn to(url: &str) -> Connection {
        let region = aws_config::Region::new("us-east-1");
        let config = loader().endpoint_url(url).region(region).test_credentials().load().await;
        Connection { config, path_style: true, throttles: Throttles::default(), now: wall_clock }
    }

    pub(crate) fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::config::Builder::from(&self.brief()).interceptor(self.throttles.clone());
        aws_sdk_dynamodb::Client::from_conf(config.build())
    }

    pub(crate) fn sqs(&self) -> aws_sdk_sqs::Client {
        aws_sdk_sqs::Client::new(&self.brief())
    }

    pub(crate) fn lambda(&self) -> aws_sdk_lambda::Client {
        aws_sdk_lambda::Client::new(&self.brief())
    }

    /// Returns the configuration for calls with small requests and responses.
    fn brief(&self) -> SdkConfig {
        let times = TimeoutConfig::builder().connect_timeout(CONNECT_TIME).read_timeout(READ_TIME);
        let times = times.operation_attempt_timeout(TRY_TIME).operation_timeout(CALL_TIME).build();
        self.config.to_builder().timeout_config(times).build()
    }

    pub(crate) fn s3(&self) -> aws_sdk_s3::Client {
        let config = aws_sdk_s3::config::Builder::from(&self.config).force_path_style(self.path_style).build();
        aws_sdk_s3::Client::from_conf(config)
    }

    /// Returns the number of calls that tables have throttled since the start of the process; each attempt counts.
    pub fn throttled(&self) -> u64 {
        self.throttles.count()
    }

    /// Returns the configuration, for the client of a service in another crate.
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    pub(crate) fn region(&self) -> Option<&str> {
        self.config.region().map(AsRef::as_ref)
    }
}

/// Returns the settings that do not depend on the endpoint's address.
fn loader() -> ConfigLoader {
    let tls = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
    let http = aws_smithy_http_client::Builder::new().pool_idle_timeout(IDLE_TIME).tls_provider(tls).build_https();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .retry_config(RetryConfig::standard().with_max_attempts(TRIES).with_max_backoff(LONGEST_PAUSE))
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIME).read_timeout(READ_TIME).build())
}

//! Local services of the runtime that no visit may call, even where private addresses are allowed. Pure.

use curlew_fetcher::Endpoint;
use url::{Host, Url};

/// Address of the runtime's API, `host:port` (Lambda's runtime environment).
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";
/// Address of the X-Ray daemon: `host:port`, or `tcp:host:port udp:host:port`.
const XRAY: &str = "AWS_XRAY_DAEMON_ADDRESS";
/// Variable with a non-standard endpoint of AWS; variables for single services add the service's name.
const AWS: &str = "AWS_ENDPOINT_URL";
/// Variable with the credentials endpoint of some runtimes.
const CREDENTIALS: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
/// Address of the extension that caches parameters and secrets.
const SECRETS: &str = "localhost:2773";
/// Names and addresses of the local machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns all local services that the environment names.
pub(crate) fn refused(environment: &[(String, String)]) -> Vec<Endpoint> {
    let mut written = vec![SECRETS.to_owned()];
    for (name, value) in environment {
        match name.as_str() {
            RUNTIME_API => written.push(value.clone()),
            XRAY => {
                let parts = value.split_ascii_whitespace();
                written.extend(parts.map(|part| part.trim_start_matches("tcp:").trim_start_matches("udp:").to_owned()));
            }
            _ if name.starts_with(AWS) || name == CREDENTIALS => written.extend(host_and_port(value)),
            _ => {}
        }
    }
    let mut refused: Vec<Endpoint> = Vec::new();
    for endpoint in written.iter().filter_map(|text| text.parse::<Endpoint>().ok()) {
        let (port, names) = (endpoint.port, if is_loopback(&endpoint.host) { &LOOPBACK[..] } else { &[] });
        let aliases = names.iter().filter_map(|name| format!("{name}:{port}").parse().ok());
        for endpoint in std::iter::once(endpoint).chain(aliases) {
            if !refused.contains(&endpoint) {
                refused.push(endpoint);
            }
        }
    }
    refused
}

fn host_and_port(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_names_is_refused_by_all_its_names() {
        let environment = [
            (RUNTIME_API, "127.0.0.1:9001"),
            (XRAY, "tcp:169.254.79.129:2000 udp:169.254.79.129:2001"),
            (AWS, "http://localhost:4566"),
            ("AWS_ENDPOINT_URL_S3", "https://storage.internal/"),
            ("HOME", "http://localhost:1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let refused: Vec<String> = refused(&environment).iter().map(ToString::to_string).collect();
        for expected in [
            "localhost:2773",
            "127.0.0.1:2773",
            "127.0.0.1:9001",
            "localhost:9001",
            "169.254.79.129:2000",
            "169.254.79.129:2001",
            "localhost:4566",
            "127.0.0.1:4566",
            "[::1]:4566",
            "storage.internal:443",
        ] {
            assert!(refused.iter().any(|endpoint| endpoint == expected), "{expected}: {refused:?}");
        }
        assert!(!refused.iter().any(|endpoint| endpoint.ends_with(":1")));
    }
}

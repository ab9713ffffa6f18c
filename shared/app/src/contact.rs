//! The operator's contact: without it, no public host is called.

use async_trait::async_trait;
use curlew_fetcher::{Guard, HttpFetcher};
use curlew_ports::{Call, Fetch, FetchError, Reply};
use std::net::IpAddr;
use url::{Host, Url};

const MISSING: &str = "no contact is set, so public hosts are not called: give --contact URL|MAIL";

/// Refuses calls except to hosts that the operator has named by `--resolve` or `--allow-net`.
pub(crate) struct ContactFirst {
    pub(crate) inner: HttpFetcher,
    pub(crate) guard: Guard,
}

impl ContactFirst {
    fn is_local(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let in_net = |ip: IpAddr| self.guard.allow_nets.iter().any(|net| net.contains(&ip));
        match url.host() {
            Some(Host::Domain(name)) => self.guard.rule_for(name).is_some(),
            Some(Host::Ipv4(ip)) => in_net(IpAddr::V4(ip)) || self.guard.rule_for(&ip.to_string()).is_some(),
            Some(Host::Ipv6(ip)) => in_net(IpAddr::V6(ip)),
            None => false,
        }
    }
}

#[async_trait]
impl Fetch for ContactFirst {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        if self.is_local(&call.url) { self.inner.call(call).await } else { Err(FetchError::Refused(MISSING.into())) }
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.inner.vet(url)?;
        if self.is_local(url) { Ok(()) } else { Err(MISSING.into()) }
    }
}

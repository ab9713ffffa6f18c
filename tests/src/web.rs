//! A bundled web that runs beside the test, in its own process.

use curlew_fixtureweb::{Farm, NameServer, Running, Signed, Uniform, serve};
use std::ops::Deref;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Number of threads of the web's server.
const THREADS: usize = 16;

/// A running web. Its methods are those of [`Running`].
#[derive(Debug)]
pub struct Web {
    running: Option<Running>,
    runtime: Runtime,
}

impl Web {
    /// Serves the sites of the demo.
    pub fn demo() -> Web {
        Web::of(Farm::demo())
    }

    /// Serves sites that are all alike.
    pub fn uniform(spec: &Uniform) -> Web {
        Web::of(Farm::uniform(spec))
    }

    /// Serves this farm.
    pub fn of(farm: Farm) -> Web {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap();
        let running = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            serve(Arc::new(farm), listener).await
        });
        Web { running: Some(running), runtime }
    }

    /// Returns the value of `--resolve` that leads every site here.
    pub fn resolve(&self) -> String {
        format!("*.test={}", self.addr())
    }

    /// Sends an update from the hub to its subscribers; returns the statuses of their answers, 0 for a missing answer.
    pub fn tell(&self, topic: &str, body: &[u8], signed: Signed) -> Vec<u16> {
        self.runtime.block_on(self.deliver(topic, body, signed))
    }

    /// Returns a name server beside the web, with no records.
    pub fn name_server(&self) -> NameServer {
        self.runtime.block_on(NameServer::start()).unwrap()
    }

    /// Returns the start addresses of all sites.
    pub fn starts(&self) -> Vec<String> {
        self.farm().sites().iter().map(|site| site.start_url.clone()).collect()
    }

    /// Returns the start addresses of some hosts.
    pub fn starts_of(&self, hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|host| self.farm().site(host).unwrap().start_url.clone()).collect()
    }

    /// Returns the number of pages of some hosts that are to be accepted.
    pub fn accepted_of(&self, hosts: &[&str]) -> usize {
        hosts.iter().map(|host| self.farm().site(host).unwrap().expect.accepted).sum()
    }
}

impl Deref for Web {
    type Target = Running;
    fn deref(&self) -> &Running {
        self.running.as_ref().unwrap()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

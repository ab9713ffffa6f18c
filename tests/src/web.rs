//! A bundled web that is served beside the test, in the same process.

use curlew_fixtureweb::{Farm, NameServer, Running, Signed, Uniform, serve};
use std::ops::Deref;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Number of threads of the web's server.
const THREADS: usize = 16;

/// A running web, which dereferences to [`Running`].
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

    /// Returns the value of `--resolve` that directs every site to this web.
    pub fn resolve(&self) -> String {
        format!("*.test={}", self.addr())
    }

    /// Sends an update from the hub to its subscribers. Returns the status of each answer, or 0 for a missing answer.
    pub fn tell(&self, topic: &str, body: &[u8], signed: Signed) -> Vec<u16> {
        self.runtime.block_on(self.deliver(topic, body, signed))
    }

    /// Starts a name server beside the web, without records.
    pub fn name_server(&self) -> NameServer {
        self.runtime.block_on(NameServer::start()).unwrap()
    }

    /// Returns the start URLs of all sites.
    pub fn starts(&self) -> Vec<String> {
        self.farm().sites().iter().map(|site| site.start_url.clone()).collect()
    }

    /// Returns the start URLs of some hosts.
    pub fn starts_of(&self, hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|host| self.farm().site(host).unwrap().start_url.clone()).collect()
    }

    /// Returns the expected number of accepted pages of some hosts.
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

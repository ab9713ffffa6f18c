//! Runs `curlew serve` on a store.

use crate::http::{Answer, get};
use crate::program::{Child, Ran};
use crate::store::Store;
use crate::wait::until;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Maximum time until the server answers.
const START: Duration = Duration::from_secs(60);
/// Maximum time until the server ends after it was asked to.
const END: Duration = Duration::from_secs(30);

/// A running server. Dropping it ends the process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    addr: SocketAddr,
}

impl Server {
    /// Serves a store on a free port and waits until it listens.
    pub fn start(store: &Store) -> Server {
        Server::start_at(store, Server::free_address())
    }

    /// Returns a loopback address that is free now. Another program may take it in the meantime, which has never been
    /// observed.
    pub fn free_address() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    /// Serves a store at this address and waits until it listens.
    pub fn start_at(store: &Store, addr: SocketAddr) -> Server {
        let mut child = store.start(&["serve", "--listen", &addr.to_string()]);
        let listens = || TcpStream::connect(addr).is_ok();
        until(START, || "the server does not listen".into(), || !child.is_running() || listens());
        if !child.is_running() {
            panic!("the server has ended: {:?}", child.wait(END));
        }
        Server { child, addr }
    }

    /// Returns the address that the server listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Gets a path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        get(self.addr, path)
    }

    /// Returns the server's process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server to end, which it must do soon and successfully.
    #[track_caller]
    pub fn stop(self) -> Ran {
        self.child.terminate();
        self.child.wait(END).ok()
    }
}

//! `curlew serve`, running on a store.

use crate::http::{Answer, get};
use crate::program::{Child, Ran};
use crate::store::Store;
use crate::wait::until;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Maximum time until it answers.
const START: Duration = Duration::from_secs(60);
/// Maximum time until it ends after being asked to.
const END: Duration = Duration::from_secs(30);

/// A server. Dropping it ends it.
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

    /// Returns an address on loopback that is free now; another program may take it in between, which has not been
    /// seen.
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

    /// Returns the address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Gets a path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        get(self.addr, path)
    }

    /// Returns its process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, which it must do soon and successfully.
    #[track_caller]
    pub fn stop(self) -> Ran {
        self.child.terminate();
        self.child.wait(END).ok()
    }
}

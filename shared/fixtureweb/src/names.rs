//! A name server for the fixture web, over UDP, with TXT and CNAME records that a test sets. It answers one question
//! per message, which is what all resolvers send.

use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::PushError;
use domain::base::{Message, MessageBuilder, Name, Ttl};
use domain::rdata::{Cname, Txt};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// Time for which a response may be cached.
const TTL: Ttl = Ttl::from_secs(1);
/// Maximum size of a query in bytes.
const QUESTION: usize = 4_096;

/// A DNS record of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// TXT record with this content.
    Text(String),
    /// CNAME record to this name.
    Alias(String),
}

/// A running name server, which stops on drop.
#[derive(Debug)]
pub struct NameServer {
    addr: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    serving: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Zone {
    records: BTreeMap<String, Vec<Record>>,
    /// True if every query is refused.
    is_broken: bool,
}

impl NameServer {
    /// Starts a name server on a free port of this machine. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> io::Result<NameServer> {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        let (addr, zone) = (socket.local_addr()?, Arc::new(Mutex::new(Zone::default())));
        let serving = tokio::spawn(serve(socket, Arc::clone(&zone)));
        Ok(NameServer { addr, zone, serving })
    }

    /// Returns the address on which the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Replaces the records of a name.
    pub fn set(&self, name: &str, records: Vec<Record>) {
        self.zone.lock().unwrap_or_else(PoisonError::into_inner).records.insert(name.to_ascii_lowercase(), records);
    }

    /// Makes the server refuse all queries, or answer again.
    pub fn set_broken(&self, is_broken: bool) {
        self.zone.lock().unwrap_or_else(PoisonError::into_inner).is_broken = is_broken;
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut buffer = vec![0; QUESTION];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        let answer = {
            let zone = zone.lock().unwrap_or_else(PoisonError::into_inner);
            Message::from_octets(&buffer[..length]).ok().and_then(|asked| zone.answer(&asked).ok())
        };
        if let Some(answer) = answer {
            // A client whose response is lost repeats its query.
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

impl Zone {
    fn answer(&self, asked: &Message<&[u8]>) -> Result<Vec<u8>, PushError> {
        let question = asked.first_question();
        let name = question.as_ref().map(|q| q.qname().to_string().trim_end_matches('.').to_ascii_lowercase());
        let is_text = question.is_some_and(|q| q.qtype() == Rtype::TXT);
        let chain = name.filter(|_| is_text).map(|name| self.chain(name)).unwrap_or_default();
        let rcode = match (self.is_broken, chain.is_empty()) {
            (true, _) => Rcode::SERVFAIL,
            (false, true) => Rcode::NXDOMAIN,
            (false, false) => Rcode::NOERROR,
        };
        let mut answer = MessageBuilder::new_vec().start_answer(asked, rcode)?;
        if rcode == Rcode::NOERROR {
            for (owner, record) in &chain {
                let Some(owner) = parsed(owner) else { continue };
                match record {
                    Record::Text(text) => {
                        let Ok(text) = Txt::<Vec<u8>>::build_from_slice(text.as_bytes()) else { continue };
                        answer.push((owner, Class::IN, TTL, text))?;
                    }
                    Record::Alias(of) => {
                        let Some(of) = parsed(of) else { continue };
                        answer.push((owner, Class::IN, TTL, Cname::new(of)))?;
                    }
                }
            }
        }
        Ok(answer.finish())
    }

    /// Returns the records of a name, and those of the names to which its CNAME records lead.
    fn chain(&self, name: String) -> Vec<(String, Record)> {
        let (mut chain, mut next) = (vec![], Some(name));
        while let Some(name) = next.take() {
            for record in self.records.get(&name).into_iter().flatten() {
                if let Record::Alias(of) = record {
                    next = Some(of.clone()).filter(|_| chain.len() < 16);
                }
                chain.push((name.clone(), record.clone()));
            }
        }
        chain
    }
}

fn parsed(name: &str) -> Option<Name<Vec<u8>>> {
    name.parse().ok()
}

//! Looks up TXT records, by which people prove that they own a site, at the system's name servers or a configured one.
//! Addresses are not looked up here; see `resolver`.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::Names;
use domain::base::iana::{Rcode, Rtype};
use domain::base::name::Name;
use domain::rdata::Txt;
use domain::resolv::StubResolver;
use domain::resolv::stub::conf::{ResolvConf, ServerConf, Transport};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum time of a look-up, including all tries and servers.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of records that are read; a name with more serves another purpose.
const MAX_RECORDS: usize = 64;
/// Maximum size of a record in bytes; longer ones are left out. A proof has 40.
const MAX_TEXT: usize = 512;

/// Looks up TXT records.
pub struct TxtRecords {
    conf: ResolvConf,
}

impl TxtRecords {
    /// Uses this name server, or else those of the system (`/etc/resolv.conf`).
    pub fn new(server: Option<SocketAddr>) -> TxtRecords {
        let conf = match server {
            None => ResolvConf::default(),
            Some(server) => {
                let mut conf = ResolvConf::new();
                conf.servers.push(ServerConf::new(server, Transport::UdpTcp));
                conf.finalize();
                conf
            }
        };
        TxtRecords { conf }
    }

    async fn ask(&self, name: &str) -> Result<Vec<Bytes>, String> {
        // The name is absolute, so that no search domain is appended.
        let name: Name<Vec<u8>> = name.parse().map_err(|e| format!("'{name}' is no name: {e}"))?;
        let resolver = StubResolver::from_conf(self.conf.clone());
        let answer = resolver.query((name, Rtype::TXT)).await.map_err(|e| e.to_string())?;
        let message = answer.into_message();
        match message.header().rcode() {
            Rcode::NOERROR => {}
            Rcode::NXDOMAIN => return Ok(vec![]),
            other => return Err(format!("the name server answers {other}")),
        }
        // Only records of the name at the end of the CNAME chain count.
        let Some(owner) = message.canonical_name() else { return Err("the CNAME records have no end".into()) };
        let records = message.answer().map_err(|e| e.to_string())?.limit_to::<Txt<_>>();
        let mut texts = Vec::new();
        for record in records.take(MAX_RECORDS) {
            let Ok(record) = record else { continue };
            let text: Vec<u8> = record.data().text();
            if record.owner() == &owner && text.len() <= MAX_TEXT {
                texts.push(Bytes::from(text));
            }
        }
        Ok(texts)
    }
}

#[async_trait]
impl Names for TxtRecords {
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String> {
        timeout(LOOKUP_TIMEOUT, self.ask(name)).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_fixtureweb::{NameServer, Record};

    fn text(text: &str) -> Record {
        Record::Text(text.to_owned())
    }

    #[tokio::test]
    async fn i08_txt_records_are_read_whole_and_cnames_followed() {
        let server = NameServer::start().await.unwrap();
        let names = TxtRecords::new(Some(server.addr()));
        let long = "0123456789".repeat(40);
        server.set("_curlew-challenge.example.org", vec![text("one"), text(&long), text(&"x".repeat(MAX_TEXT + 1))]);
        let found = names.texts("_curlew-challenge.example.org").await.unwrap();
        assert_eq!(found, ["one".as_bytes(), long.as_bytes()], "strings are joined; what is too long is left out");
        server.set("a.example.org", vec![Record::Alias("b.example.net".into())]);
        server.set("b.example.net", vec![text("two")]);
        assert_eq!(names.texts("a.example.org").await.unwrap(), ["two"]);
        server.set("round.example.org", vec![Record::Alias("round.example.org".into())]);
        assert!(names.texts("round.example.org").await.is_err_and(|why| !why.is_empty()));
    }

    #[tokio::test]
    async fn that_there_is_no_record_is_an_answer_and_trouble_is_none() {
        let server = NameServer::start().await.unwrap();
        let names = TxtRecords::new(Some(server.addr()));
        assert_eq!(names.texts("nothing.example.org").await.unwrap(), Vec::<Bytes>::new());
        server.set_broken(true);
        assert!(names.texts("nothing.example.org").await.is_err());
        for bad in ["", &"a".repeat(300), "a..b"] {
            assert!(names.texts(bad).await.is_err(), "{bad}");
        }
        drop(server);
        let closed = TxtRecords::new(Some("127.0.0.1:9".parse().unwrap()));
        assert!(closed.texts("example.org").await.is_err());
    }
}

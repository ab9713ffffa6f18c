//! Tests the examples of proxies in `contrib/`: each runs with the real proxy in front of the real `curlew serve`.

use curlew_tests::{Answer, Child, Server, Store, Web, answer_of, named, read, until};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Host name of the search page in the examples.
const NAME: &str = "search.example";
/// Address at which the examples expect Curlew.
const UPSTREAM: &str = "127.0.0.1:8080";
/// Maximum time until a proxy answers.
const SOON: Duration = Duration::from_secs(30);
/// Minimum age of a form when it is submitted.
const FORM_AGE: Duration = Duration::from_millis(3_100);
/// Number of searches that exceeds the allowance of one visitor, even on a busy machine, where the allowance grows
/// meanwhile.
const MANY: usize = 1_000;
/// Number of searches that is below the allowance of a new visitor.
const FEW: usize = 5;

/// Replaces a text, which must occur.
#[track_caller]
fn replace(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the example has no {from}");
    text.replace(from, to)
}

/// A proxy in front of a server. Dropping it ends both.
struct Proxy {
    _running: Child,
    addr: SocketAddr,
    /// Folder with the certificate.
    folder: TempDir,
    /// The server behind the proxy.
    _server: Server,
    _store: Store,
}

impl Proxy {
    /// Starts Curlew with `more` and the settings that the examples require, and a proxy in front of it. `set_up`
    /// writes the proxy's files into a folder and returns the proxy's command.
    fn start(web: &Web, more: &str, set_up: impl FnOnce(&Path, SocketAddr, SocketAddr) -> Command) -> Proxy {
        let mut store = Store::brisk(web);
        store.configure(&format!(
            "[web]\nbase_url = \"https://{NAME}\"\ntrusted_proxies = [\"127.0.0.1/32\"]\ntitle = \"Notes search\"\n{more}"
        ));
        store.crawl(&["http://harbour-lantern.test/".to_owned()]);
        let server = Server::start(&store);
        let folder = TempDir::with_prefix("curlew-proxy-").unwrap();
        let certificate =
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=search.example"];
        let alternative = format!("subjectAltName=DNS:{NAME}");
        let mut make = Command::new(openssl());
        make.args(certificate).args(["-addext", &alternative, "-keyout", "key.pem", "-out", "cert.pem"]);
        make.current_dir(folder.path()).stdin(Stdio::null());
        Child::spawn(make).wait(SOON).ok();
        let addr = Server::free_address();
        let mut running = Child::spawn(set_up(folder.path(), addr, server.addr()));
        let listens = || std::net::TcpStream::connect(addr).is_ok();
        until(SOON, || "the proxy does not listen".into(), || !running.is_running() || listens());
        if !running.is_running() {
            panic!("the proxy has ended: {:?}", running.wait(SOON));
        }
        Proxy { _running: running, addr, folder, _server: server, _store: store }
    }

    /// Sends a request over TLS from this loopback address, as a visitor's browser would.
    #[track_caller]
    fn ask(&self, from: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut client = Command::new(openssl());
        client
            .args(["s_client", "-quiet", "-ign_eof", "-no_ticket", "-verify_return_error", "-servername", NAME])
            .args(["-verify_hostname", NAME, "-connect", &self.addr.to_string(), "-bind", &format!("{from}:0")])
            .arg("-CAfile")
            .arg(self.folder.path().join("cert.pem"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut client = client.spawn().unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request +=
                &format!("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n", body.len());
        }
        client.stdin.as_mut().unwrap().write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let ended = client.wait_with_output().unwrap();
        answer_of(&ended.stdout)
            .unwrap_or_else(|e| panic!("{method} {path}: {e}: {}", String::from_utf8_lossy(&ended.stderr)))
    }
}

fn openssl() -> PathBuf {
    named("OPENSSL", "/usr/bin/openssl")
}

/// Checks everything that visitors would notice if the proxy were set up wrongly.
fn serves_visitors(proxy: &Proxy) {
    let page = proxy.ask("127.0.0.2", "GET", "/", &[], "");
    assert!(page.status == 200 && page.text().contains("Notes search"), "{}: {}", page.status, page.text());

    // Large answers arrive compressed and complete.
    let zipped = proxy.ask("127.0.0.2", "GET", "/?q=harbour", &[("Accept-Encoding", "gzip")], "");
    assert_eq!((zipped.status, zipped.header("content-encoding")), (200, Some("gzip")), "{:?}", zipped.headers);
    let text = unzipped(proxy.folder.path(), &zipped.body);
    assert!(text.contains("harbour-lantern.test") && text.trim_end().ends_with("</html>"), "{text}");

    // A form is accepted only from its own page.
    let form = proxy.ask("127.0.0.2", "GET", "/contact", &[], "").text();
    let token = form.split("name=\"token\"").nth(1).and_then(|rest| rest.split("value=\"").nth(1));
    let token = token.and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("no token: {form}"));
    std::thread::sleep(FORM_AGE);
    let body = format!("about=question&address=&text=Is+this+read%3F&reply_to=&subject=&token={token}");
    for (origin, status) in [("https://elsewhere.example", 403), ("https://search.example", 200)] {
        let sent = proxy.ask("127.0.0.2", "POST", "/contact", &[("Origin", origin)], &body);
        assert_eq!(sent.status, status, "{origin}: {}", sent.text());
    }

    // Each visitor has an allowance, whatever the visitor writes into the headers. Other visitors keep theirs.
    let lie = [("X-Forwarded-For", "198.51.100.7"), ("Forwarded", "for=198.51.100.8")];
    let refused = (0..MANY).find(|_| proxy.ask("127.0.0.3", "GET", "/api/v1/search?q=tide", &lie, "").status == 429);
    assert!(refused.is_some(), "no visitor is refused");
    let lie = [("X-Forwarded-For", "198.51.100.9")];
    // On a slow machine, the allowance may have grown by one before the next request. A new visitor's allowance would
    // be enough for all of these requests.
    let is_refused = (0..FEW).any(|_| proxy.ask("127.0.0.3", "GET", "/api/v1/search?q=tide", &lie, "").status == 429);
    assert!(is_refused, "a forged header gave a new allowance");
    assert_eq!(proxy.ask("127.0.0.4", "GET", "/api/v1/search?q=tide", &[], "").status, 200, "another visitor");
}

fn unzipped(folder: &Path, body: &[u8]) -> String {
    let file = folder.join("body.gz");
    std::fs::write(&file, body).unwrap();
    let mut gzip = Command::new("gzip");
    gzip.arg("-dc").arg(&file).stdin(Stdio::null());
    Child::spawn(gzip).wait(SOON).ok().stdout
}

#[test]
fn nginx_serves_visitors_by_the_example() {
    let proxy = Proxy::start(&Web::demo(), "", |folder, addr, upstream| {
        let site = read("contrib/nginx.conf");
        let site = replace(&site, "    listen [::]:80;\n", "");
        let site = replace(&site, "    listen [::]:443 ssl http2;\n", "");
        let site = replace(&site, "listen 80;", &format!("listen {};", Server::free_address()));
        let site = replace(&site, "listen 443 ssl http2;", &format!("listen {addr} ssl http2;"));
        let site = replace(&site, "/etc/letsencrypt/live/search.example/fullchain.pem", "cert.pem");
        let site = replace(&site, "/etc/letsencrypt/live/search.example/privkey.pem", "key.pem");
        let site = replace(&site, UPSTREAM, &upstream.to_string());
        // The folders that a distribution would provide, and the lines of the distribution's nginx.conf around the
        // site.
        let temporary =
            ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {kind};\n"));
        let around =
            format!("daemon off;\npid nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{}", temporary.concat());
        std::fs::write(folder.join("nginx.conf"), format!("{around}{site}}}\n")).unwrap();
        let mut nginx = Command::new(named("NGINX", ".tools/nginx/usr/sbin/nginx"));
        nginx.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "stderr"]).stdin(Stdio::null());
        nginx
    });
    serves_visitors(&proxy);
}

/// Returns the command that runs Caddy with this file and the certificate in the folder.
fn caddy(folder: &Path, addr: SocketAddr, upstream: SocketAddr, file: &str) -> Command {
    let site = format!("{NAME}:{} {{\n\tbind {}\n\ttls cert.pem key.pem", addr.port(), addr.ip());
    let file = replace(file, "\nsearch.example {", &format!("\n{site}"));
    let file = replace(&file, UPSTREAM, &upstream.to_string());
    // The options turn off port 80 and the admin endpoint.
    let options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n";
    std::fs::write(folder.join("Caddyfile"), format!("{options}{file}")).unwrap();
    let mut caddy = caddy_alone(folder);
    caddy.args(["run", "--config", "Caddyfile", "--adapter", "caddyfile"]).current_dir(folder);
    caddy
}

fn caddy_alone(folder: &Path) -> Command {
    let mut caddy = Command::new(named("CADDY", ".tools/caddy/usr/bin/caddy"));
    caddy.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    caddy
}

#[test]
fn caddy_serves_visitors_by_the_example() {
    let file = read("contrib/Caddyfile");
    let proxy = Proxy::start(&Web::demo(), "", |folder, addr, upstream| caddy(folder, addr, upstream, &file));
    serves_visitors(&proxy);
}

/// Tests the documented Caddyfile with a password for the operator's pages.
#[test]
fn caddy_signs_operators_in_by_the_documented_example() {
    let page = read("docs/server.md");
    let blocks: Vec<&str> = page.split("```").filter(|block| block.contains("basicauth @operators")).collect();
    let [block] = blocks[..] else { panic!("{} Caddyfiles with a password", blocks.len()) };
    let file = block.strip_prefix("text").unwrap();
    let more = "[admin]\nenabled = true\ntrusted_header = \"Remote-User\"\n";
    let proxy = Proxy::start(&Web::demo(), more, |folder, addr, upstream| {
        let mut hash = caddy_alone(folder);
        hash.args(["hash-password", "--plaintext", "tide"]);
        let hash = Child::spawn(hash).wait(SOON).ok().stdout;
        caddy(folder, addr, upstream, &replace(file, "HASH", hash.trim()))
    });
    let ask = |path: &str, headers: &[(&str, &str)]| proxy.ask("127.0.0.2", "GET", path, headers, "");
    let (lie, password) = (("Remote-User", "bo"), ("Authorization", "Basic YW5hOnRpZGU="));
    for path in ["/admin", "/admin/settings", "/admin/", "//admin", "/%61dmin", "/x/../admin", "/ADMIN"] {
        let answer = ask(path, &[lie]);
        assert!(answer.status == 401 || answer.status == 404 || answer.status == 308, "{path}: {}", answer.status);
        assert!(!answer.text().contains("Sign out") && !answer.text().contains("<span>bo</span>"), "{path}");
    }
    let page = ask("/admin", &[lie, password]);
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("<span>ana</span>") && !page.text().contains("<span>bo</span>"), "{}", page.text());
    assert!(ask("/", &[lie]).text().contains("Notes search"), "visitors need no password");
}

//! A real browser, driven by WebDriver (W3C Recommendation) over plain HTTP.

use crate::http::request;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The member under which WebDriver names an element (§12.1).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How long something on the page is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// What keeps the browser to itself: no network but what a page asks for, no window, no sandbox (tests may run as root).
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// A session with one window. Dropping it ends the browser.
#[derive(Debug)]
pub struct Browser {
    addr: SocketAddr,
    session: String,
    driver: std::process::Child,
    _profile: TempDir,
}

/// Something on the page.
#[derive(Debug)]
pub struct Element<'a> {
    browser: &'a Browser,
    id: String,
}

fn tool(variable: &str, usual: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or_else(|| PathBuf::from(usual), PathBuf::from);
    assert!(path.is_file(), "the test needs {usual}: install it (`cargo xtask test` does), or name it by {variable}");
    path
}

fn chromium() -> PathBuf {
    tool("CHROMIUM", "/usr/bin/chromium")
}

impl Browser {
    /// Starts a browser with an empty profile.
    ///
    /// # Panics
    /// If there is none.
    pub fn start() -> Browser {
        let profile = TempDir::with_prefix("curlew-browser-").unwrap();
        let mut driver = Command::new(tool("CHROMEDRIVER", "/usr/bin/chromedriver"))
            .args(["--port=0", "--allowed-ips=127.0.0.1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let addr = SocketAddr::from(([127, 0, 0, 1], port(&mut driver)));
        let mut args: Vec<String> = FLAGS.iter().map(|&flag| flag.to_owned()).collect();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let options = json!({"binary": chromium(), "args": args});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let session = call(addr, "POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        let session = session["sessionId"].as_str().unwrap().to_owned();
        Browser { addr, session, driver, _profile: profile }
    }

    /// Opens an address and waits until it has loaded.
    pub fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    /// The first element that a CSS selector matches, waited for.
    ///
    /// # Panics
    /// If none appears.
    #[track_caller]
    pub fn find(&self, selector: &str) -> Element<'_> {
        let began = Instant::now();
        loop {
            if let Some(element) = self.find_all(selector).into_iter().next() {
                return element;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "nothing matches {selector} on {}",
                self.script("return document.body.outerHTML")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// All elements that a CSS selector matches now.
    pub fn find_all(&self, selector: &str) -> Vec<Element<'_>> {
        let found = self.post("/elements", &json!({"using": "css selector", "value": selector}));
        let ids = found.as_array().unwrap().iter().map(|element| element[ELEMENT].as_str().unwrap().to_owned());
        ids.map(|id| Element { browser: self, id }).collect()
    }

    /// Runs a script on the page, as the body of a function, and gives what it returns.
    pub fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script returns true.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn wait_for(&self, script: &str) {
        let began = Instant::now();
        while self.script(script) != json!(true) {
            assert!(began.elapsed() < PATIENCE, "it did not become true: {script}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What the browser has complained of since it was asked last: errors of scripts and of the network, violations of
    /// the page's content security policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(|line| line["message"].to_string()).collect()
    }

    /// From now on no page's scripts run.
    pub fn disable_scripts(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    /// The document as it stands, read without running anything in it.
    ///
    /// # Panics
    /// If the browser does not give it.
    pub fn document(&self) -> String {
        let root = self.devtools("DOM.getDocument", &json!({"depth": 0}));
        let html = self.devtools("DOM.getOuterHTML", &json!({"nodeId": root["root"]["nodeId"]}));
        html["outerHTML"].as_str().unwrap().to_owned()
    }

    fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Gives the window this size, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({"width": width, "height": height}));
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        call(self.addr, "POST", &format!("/session/{}{path}", self.session), body)
    }
}

impl Element<'_> {
    /// Types, as with a keyboard. `\u{e007}` is the Enter key (§17.4.2).
    pub fn type_keys(&self, text: &str) {
        self.browser.post(&format!("/element/{}/value", self.id), &json!({"text": text}));
    }

    /// Clicks it.
    pub fn click(&self) {
        self.browser.post(&format!("/element/{}/click", self.id), &json!({}));
    }

    /// Its text as a person sees it.
    pub fn text(&self) -> String {
        let path = format!("/session/{}/element/{}/text", self.browser.session, self.id);
        value(&request(self.browser.addr, "GET", &path, None).text()).as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            request(self.addr, "DELETE", &format!("/session/{}", self.session), None);
        }
        // It may be gone already.
        let _ended_already = self.driver.kill();
        let _status = self.driver.wait();
    }
}

/// The driver chooses a free port and says which.
fn port(driver: &mut std::process::Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.by_ref().find_map(|line| {
        let line = line.unwrap();
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    // Nobody else reads what it says later, and it must not block on that.
    std::thread::spawn(move || lines.for_each(drop));
    port.expect("the driver says its port")
}

#[track_caller]
fn call(addr: SocketAddr, method: &str, path: &str, body: &Value) -> Value {
    value(&request(addr, method, path, Some(&body.to_string())).text())
}

#[track_caller]
fn value(answer: &str) -> Value {
    let mut answer: Value = serde_json::from_str(answer).unwrap_or_else(|e| panic!("{e}: {answer}"));
    let value = answer["value"].take();
    assert!(value["error"].is_null(), "the driver refuses: {value}");
    value
}

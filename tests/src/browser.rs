//! A real browser, driven by WebDriver (W3C Recommendation) over plain HTTP.

use crate::http::request;
use crate::wait::until;
use crate::web::Web;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Name of the member that identifies an element in WebDriver (§12.1).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// Maximum time to wait for an element or a state of the page.
const PATIENCE: Duration = Duration::from_secs(60);
/// Flags that isolate the browser: no network except for pages, no window, no sandbox (tests may run as root).
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                     --disable-component-update --disable-sync --disable-dev-shm-usage";

/// A session with one window. Dropping it ends the browser.
#[derive(Debug)]
pub struct Browser {
    addr: SocketAddr,
    session: String,
    driver: std::process::Child,
    _profile: TempDir,
}

/// The screen that shows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// True for a phone, whose pages obey `meta viewport` and whose scroll bars take no space.
    pub is_phone: bool,
}

impl Screen {
    /// A small phone.
    pub const PHONE: Screen = Screen { width: 360, height: 740, is_phone: true };
    /// A desktop.
    pub const DESKTOP: Screen = Screen { width: 1280, height: 900, is_phone: false };
}

/// An element of the page.
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

impl Browser {
    /// Starts a browser with an empty profile.
    pub fn start() -> Browser {
        Browser::with(&[])
    }

    /// Starts a browser on a network where every name under `.test` leads to this web.
    pub fn beside(web: &Web) -> Browser {
        Browser::with(&[format!("--host-resolver-rules=MAP *.test {}", web.addr())])
    }

    fn with(flags: &[String]) -> Browser {
        let profile = TempDir::with_prefix("curlew-browser-").unwrap();
        let mut driver = Command::new(tool("CHROMEDRIVER", "/usr/bin/chromedriver"))
            .args(["--port=0", "--allowed-ips=127.0.0.1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let addr = SocketAddr::from(([127, 0, 0, 1], port(&mut driver)));
        let mut args: Vec<String> = FLAGS.split(' ').map(str::to_owned).collect();
        args.extend_from_slice(flags);
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let options = json!({"binary": tool("CHROMIUM", "/usr/bin/chromium"), "args": args});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let session = call(addr, "POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        let session = session["sessionId"].as_str().unwrap().to_owned();
        Browser { addr, session, driver, _profile: profile }
    }

    /// Opens a URL and waits until the page has loaded.
    pub fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    /// Waits for the first element that a CSS selector matches, and returns it.
    #[track_caller]
    pub fn find(&self, selector: &str) -> Element<'_> {
        let mut found = None;
        let told = || format!("nothing matches {selector} on {}", self.script("return document.body.outerHTML"));
        until(PATIENCE, told, || {
            found = self.find_all(selector).into_iter().next();
            found.is_some()
        });
        found.unwrap()
    }

    /// Clicks a button that submits a form, and waits for the next page. A click does not always wait for that page,
    /// and the old page may look the same.
    #[track_caller]
    pub fn submit(&self, selector: &str) {
        self.script("document.documentElement.dataset.left = 'yes'");
        self.find(selector).click();
        self.find("html:not([data-left]) main");
    }

    /// Returns all elements that a CSS selector matches now.
    pub fn find_all(&self, selector: &str) -> Vec<Element<'_>> {
        let found = self.post("/elements", &json!({"using": "css selector", "value": selector}));
        let ids = found.as_array().unwrap().iter().map(|element| element[ELEMENT].as_str().unwrap().to_owned());
        ids.map(|id| Element { browser: self, id }).collect()
    }

    /// Runs a script on the page as a function body, and returns its result.
    pub fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub fn wait_for(&self, script: &str) {
        until(PATIENCE, || format!("this script did not return true: {script}"), || self.script(script) == json!(true));
    }

    /// Returns the browser's complaints since the last call: errors of scripts and of the network, and violations of
    /// the page's content security policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(|line| line["message"].to_string()).collect()
    }

    /// Disables scripts from now on.
    pub fn disable_scripts(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    /// Returns the current document, read without running any of its scripts.
    pub fn document(&self) -> String {
        let root = self.devtools("DOM.getDocument", &json!({"depth": 0}));
        let html = self.devtools("DOM.getOuterHTML", &json!({"nodeId": root["root"]["nodeId"]}));
        html["outerHTML"].as_str().unwrap().to_owned()
    }

    fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Sends this `Accept-Language` header from now on.
    pub fn speak(&self, languages: &str) {
        self.devtools("Network.enable", &json!({}));
        self.devtools("Network.setExtraHTTPHeaders", &json!({"headers": {"Accept-Language": languages}}));
    }

    /// Sets the preferred colour scheme from now on.
    pub fn prefer_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Emulates a screen of this size from now on; a window cannot be as narrow as a phone.
    pub fn be(&self, screen: Screen) {
        let Screen { width, height, is_phone } = screen;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Presses and releases a key: `\u{e004}` is Tab, `\u{e007}` is Enter (§17.4.2).
    pub fn press(&self, key: char) {
        let strokes = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}));
    }

    /// Returns axe-core's findings for levels A and AA of WCAG 2.2, each with its rule and elements. The page's content
    /// security policy does not apply to the driver's scripts.
    pub fn barriers(&self) -> Vec<String> {
        let path = std::env::var_os("CURLEW_AXE").expect("CURLEW_AXE names axe.min.js: `cargo xtask test` installs it");
        let axe = std::fs::read_to_string(path).unwrap();
        let run = format!(
            "{axe}; return axe.run(document, {{runOnly: ['wcag2a','wcag2aa','wcag21a','wcag21aa','wcag22aa']}})
               .then(r => ({{passes: r.passes.length,
                            violations: r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' | '))}}))"
        );
        let found = self.script(&run);
        assert!(found["passes"].as_u64().is_some_and(|passes| passes > 5), "axe-core has checked nothing: {found}");
        found["violations"].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    }

    /// Returns the cumulative layout shift of the page since it began to load (Layout Instability API).
    pub fn moved(&self) -> f64 {
        let sum = self.script(
            "return new Promise(done => {
               let sum = 0;
               new PerformanceObserver(list => { for (const e of list.getEntries()) sum += e.value })
                 .observe({type: 'layout-shift', buffered: true});
               requestAnimationFrame(() => setTimeout(() => done(sum), 50));
             })",
        );
        sum.as_f64().unwrap()
    }

    /// Limits the download speed from now on, in bytes per second, so that pages are painted in parts. `None` lifts the
    /// limit.
    pub fn be_on_a_line_of(&self, bytes_per_second: Option<u32>) {
        self.devtools("Network.enable", &json!({}));
        let rate = bytes_per_second.map_or(-1.0, f64::from);
        let conditions = json!({"offline": false, "latency": 0, "downloadThroughput": rate, "uploadThroughput": -1});
        self.devtools("Network.emulateNetworkConditions", &conditions);
    }

    /// Returns the whole page as a PNG file.
    fn picture(&self) -> Vec<u8> {
        let shot = self.devtools("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        STANDARD.decode(shot["data"].as_str().unwrap()).unwrap()
    }

    /// Writes a picture of the page for inspection to the folder `screenshots`, beside cargo's folder for tests
    /// (`CARGO_TARGET_TMPDIR`).
    pub fn keep_picture(&self, target_tmpdir: &str, name: &str) {
        let folder = Path::new(target_tmpdir).parent().unwrap().join("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), self.picture()).unwrap();
    }

    /// Sets the size of the window, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({"width": width, "height": height}));
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        call(self.addr, "POST", &format!("/session/{}{path}", self.session), body)
    }
}

impl Element<'_> {
    /// Types a text as on a keyboard. `\u{e007}` is the Enter key (§17.4.2).
    pub fn type_keys(&self, text: &str) {
        self.browser.post(&format!("/element/{}/value", self.id), &json!({"text": text}));
    }

    /// Clicks the element.
    pub fn click(&self) {
        self.browser.post(&format!("/element/{}/click", self.id), &json!({}));
    }

    /// Returns the visible text of the element.
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
        // The driver may have ended already.
        let _ended_already = self.driver.kill();
        let _status = self.driver.wait();
    }
}

/// Returns the port that the driver has chosen and printed.
fn port(driver: &mut std::process::Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.by_ref().find_map(|line| {
        let line = line.unwrap();
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    // The later output is drained, so that the driver does not block on it.
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

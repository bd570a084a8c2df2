//! A browser, driven by the WebDriver protocol through chromedriver.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};

/// The arrow key to the right, as the protocol writes it.
pub const RIGHT: &str = "\u{e014}";
/// The key that presses a button.
pub const ENTER: &str = "\u{e007}";

/// Whether the page is loaded, and shown: it is not, before its fonts are there.
pub const SHOWN: &str = "return document.readyState === 'complete' \
                         && getComputedStyle(document.body).visibility === 'visible'";

/// Chromium with one window. It closes when this is dropped.
pub struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
}

impl Browser {
    /// Starts chromedriver on a free port, and Chromium without a window on a screen.
    pub fn start() -> Browser {
        // On a busy machine chromedriver may not get a port at once.
        let (driver, port) = (0..5)
            .find_map(|_| chromedriver())
            .expect("chromedriver listens on a port");
        let agent = ureq::Agent::new_with_config(
            ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build(),
        );
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ];
        let mut browser = Browser {
            driver,
            agent,
            session: format!("http://127.0.0.1:{port}/session"),
        };
        let wish = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "SEVERE"},
            // A thorough look at the page of the whole book takes its time.
            "timeouts": {"script": 120_000},
        }}});
        let answer = browser.post("", wish);
        let id = answer["sessionId"].as_str().expect("a session").to_owned();
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    /// Opens an address; one that differs from the last in its fragment alone is loaded afresh.
    pub fn open(&self, address: &str) {
        self.post("/url", json!({"url": "about:blank"}));
        self.post("/url", json!({"url": address}));
    }

    /// The page's own width and height, in CSS pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.command(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// A command to Chromium itself, of its DevTools protocol.
    pub fn command(&self, name: &str, parameters: Value) {
        self.post(
            "/goog/cdp/execute",
            json!({"cmd": name, "params": parameters}),
        );
    }

    /// Has a script run in every page that is opened from now on, before the page's own.
    pub fn prepare(&self, script: &str) {
        let name = "Page.addScriptToEvaluateOnNewDocument";
        self.command(name, json!({"source": script}));
    }

    /// Runs the body of a function in the page; of a promise, the outcome is returned.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": []}))
    }

    /// What a script returns, as text.
    pub fn text(&self, script: &str) -> String {
        self.run(script).as_str().unwrap_or_default().to_owned()
    }

    /// Errors of scripts and loads since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({"type": "browser"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Waits until a script returns true.
    pub fn wait(&self, script: &str) {
        let start = Instant::now();
        while self.run(script) != json!(true) {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "still waiting for: {script}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends keys to the element that a selector finds, which gets the focus.
    pub fn keys(&self, selector: &str, keys: &str) {
        let found = self.post(
            "/element",
            json!({"using": "css selector", "value": selector}),
        );
        let id = found.as_object().and_then(|found| found.values().next());
        let id = id
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("no {selector}"));
        self.post(&format!("/element/{id}/value"), json!({"text": keys}));
    }

    /// Presses the pointer at one place of the window, moves it to another, and lets go.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let at = |(x, y): (f64, f64)| json!({"type": "pointerMove", "duration": 30, "x": x.round(), "y": y.round()});
        let actions = [
            at(from),
            json!({"type": "pointerDown", "button": 0}),
            at(((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0)),
            at(to),
            json!({"type": "pointerUp", "button": 0}),
        ];
        self.post("/actions", json!({"actions": [
            {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions},
        ]}));
    }

    /// Writes a picture of what the window shows.
    pub fn picture(&self, path: &Path) {
        let mut answer = self
            .agent
            .get(format!("{}/screenshot", self.session))
            .call()
            .expect("chromedriver answers");
        let answer: Value = answer.body_mut().read_json().expect("JSON");
        let text = answer["value"].as_str().expect("a picture");
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        std::fs::write(path, bytes.expect("base64")).expect("a writable folder");
    }

    fn post(&self, command: &str, body: Value) -> Value {
        let mut answer = self
            .agent
            .post(format!("{}{command}", self.session))
            .send_json(&body)
            .expect("chromedriver answers");
        let answer: Value = answer.body_mut().read_json().expect("JSON");
        let value = answer["value"].clone();
        assert!(
            value.get("error").is_none(),
            "{command}: {}",
            value["message"]
        );
        value
    }
}

/// Starts chromedriver, and says on which port it listens.
fn chromedriver() -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver; on Debian, install chromium and chromium-driver");
    let output = BufReader::new(driver.stdout.take().expect("its output"));
    let port = output.lines().map_while(Result::ok).find_map(|line| {
        let port = line.split("started successfully on port ").nth(1)?;
        port.trim_end_matches('.').parse().ok()
    });
    match port {
        Some(port) => Some((driver, port)),
        None => {
            let _ = driver.wait();
            None
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

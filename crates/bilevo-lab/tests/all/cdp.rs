//! A headless Chromium, spoken to over its debugging pipe (one JSON message, one NUL byte).

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A browser to test with: `BILEVO_BROWSER`, or one on the path. None is a failure where `CI` is
/// set.
pub(crate) fn find() -> Option<String> {
    if let Ok(path) = std::env::var("BILEVO_BROWSER") {
        return Some(path);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    let found = places.find(|place| place.is_file());
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "no Chromium found: set BILEVO_BROWSER");
    found.map(|p| p.to_string_lossy().into_owned())
}

pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    events: Vec<Value>,
    session: Option<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser with one empty page.
    pub(crate) fn start(path: &str) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", path])
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let sent = serde_json::from_slice(&message).map(|m| send.send(m));
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        let mut browser =
            Browser { child, input, messages, last_id: 0, events: Vec::new(), session: None, _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{command}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.receive();
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(Duration::from_secs(600));
        message.unwrap_or_else(|e| panic!("the browser does not answer: {e}"))
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, file: &std::path::Path) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while !self.events.iter().any(|e| e["method"] == "Page.loadEventFired") {
            let message = self.receive();
            self.events.push(message);
        }
    }

    /// Value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub(crate) fn media(&mut self, medium: &str, colours: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": colours}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
    }

    pub(crate) fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let clicks = i32::from(kind != "mouseMoved");
        let event = json!({"type": kind, "x": x, "y": y, "button": if clicks > 0 { "left" } else { "none" }, "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Clicks the middle of the first element that a selector finds.
    pub(crate) fn click(&mut self, selector: &str) {
        let centre = format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        );
        let at = self.eval(&centre);
        let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
        self.mouse("mousePressed", x, y);
        self.mouse("mouseReleased", x, y);
    }

    /// Errors and warnings that the page has caused since it was opened.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let bad = |e: &&Value| match e["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => e["params"]["entry"]["level"] != "info",
            Some("Runtime.consoleAPICalled") => true,
            _ => false,
        };
        self.events.iter().filter(bad).collect()
    }

    /// Saves a picture of the whole page where `BILEVO_SCREENSHOTS` names a folder.
    pub(crate) fn picture(&mut self, name: &str) {
        let Ok(folder) = std::env::var("BILEVO_SCREENSHOTS") else { return };
        let shot = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        self.save(&folder, &format!("{name}.png"), &shot["data"]);
    }

    /// Saves the page as it would be printed, likewise.
    pub(crate) fn print(&mut self, name: &str) {
        let pdf = self.call("Page.printToPDF", json!({"printBackground": false, "landscape": false}));
        assert!(pdf["data"].as_str().is_some_and(|d| d.len() > 10_000));
        let Ok(folder) = std::env::var("BILEVO_SCREENSHOTS") else { return };
        self.save(&folder, &format!("{name}.pdf"), &pdf["data"]);
    }

    fn save(&self, folder: &str, name: &str, data: &Value) {
        use base64::Engine;
        let bytes = base64::engine::general_purpose::STANDARD.decode(data.as_str().unwrap()).unwrap();
        std::fs::write(std::path::Path::new(folder).join(name), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It closes its pipe when it ends; one that does not end in time is killed.
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        while self.messages.recv_timeout(Duration::from_secs(10)).is_ok() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

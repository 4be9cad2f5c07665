"""A headless Chromium, driven over the DevTools protocol by a pipe (chromedevtools.github.io/devtools-protocol)."""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe"]
PATIENCE = 120  # seconds; bounds a failure, nothing is measured by it


class Browser:
    """One window. `problems` are errors of the console, exceptions and requests of the page to other hosts."""

    def __init__(self, folder, environment):
        self.folder = pathlib.Path(folder)
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir(parents=True)
        to_browser, self.write_to = os.pipe()
        self.read_from, from_browser = os.pipe()
        command = [PROGRAM, *FLAGS, f"--user-data-dir={self.folder / 'profile'}", "about:blank"]

        def ends():  # the browser reads from 3 and writes to 4, which may be a pipe of another window here
            for fd, at in [(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20), at) for fd, at in ((to_browser, 3), (from_browser, 4))]:
                os.dup2(fd, at)
        self.process = subprocess.Popen(command, close_fds=False, preexec_fn=ends,
                                        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.problems, self.host = [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(domain + ".enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        self.size(1280, 900)

    def close(self):
        os.close(self.write_to)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_from)

    # ---- the protocol ----

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_from], [], [], max(0, deadline - time.time()))
            part = os.read(self.read_from, 1 << 20) if ready else b""
            if not part:
                raise AssertionError("the browser does not answer")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session and not method.startswith(("Target.", "Browser.")):
            request["sessionId"] = self.session
        os.write(self.write_to, json.dumps(request).encode() + b"\0")
        deadline = time.time() + PATIENCE
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.heard(message)

    def heard(self, message):
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and "ERR_NETWORK_CHANGED" in said["entry"]["text"]:
            # Another test has added or removed a network interface, and Chromium aborts requests then. The page asks again.
            self.network_changed = True
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(said["entry"]["text"] + " " + said["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent" and self.host:
            address = said["request"]["url"]
            if not address.startswith((self.host + "/", "data:", "blob:")):
                self.problems.append("a request to " + address)

    # ---- what a user does ----

    def open(self, address):
        self.host = "/".join(address.split("/")[:3])
        for _ in range(5):
            self.network_changed = False
            self.call("Page.navigate", url=address)
            self.wait("document.readyState === 'complete'")
            if not self.network_changed:
                return
            self.call("Page.navigate", url="about:blank")

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Asks until the expression is true, and gives its value."""
        deadline = time.time() + seconds
        while True:
            try:
                value = self.js(f"(() => {{ try {{ const v = {expression}; return v instanceof Node ? true : v; }} catch {{ return null; }} }})()")
            except AssertionError:
                value = None  # the document was being replaced
            if value:
                return value
            if time.time() > deadline:
                raise AssertionError(f"it does not become true: {expression}\n{self.js('location.href + document.body.innerText.slice(0, 3000)')}\n{self.problems}")
            time.sleep(0.05)

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)}) && !document.querySelector({json.dumps(selector)}).disabled")
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def fill(self, selector, value):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.js(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, {json.dumps(str(value))});
            e.dispatchEvent(new Event('input', {{bubbles: true}})); e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def choose_file(self, selector, path):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def key(self, name, code, text=None):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def screenshot(self, path):
        """The whole page, not only what the window shows."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 2400), "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

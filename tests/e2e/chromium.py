"""A headless Chromium, controlled through its debugging pipe without a driver or packages."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """Returns the browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


# Evaluates an expression every 10 ms until it is true or the time is over.
LOOK = """(async () => {
  for (const end = performance.now() + %d; performance.now() < end; await new Promise((done) => setTimeout(done, 10))) {
    try { if (await (%s)) return true; } catch {}
  }
  return false;
})()"""


class Browser:
    """One page. Each call waits for its answer; a call that takes longer than `seconds` is an error."""

    def __init__(self, seconds=60):
        self.seconds, self.last, self.waiting, self.errors = seconds, 0, b"", []
        self.profile = tempfile.mkdtemp()
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        command = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={self.profile}",
                   "--remote-debugging-pipe", "about:blank"]

        def pipes():
            # Above 4 first, for one of the ends may be 3 or 4 already.
            reads, writes = os.dup(to_read), os.dup(to_write)
            reads, writes = os.dup2(reads, 60), os.dup2(writes, 61)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # as if somebody looked at it all the time

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.waiting:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise TimeoutError("the browser does not answer")
            if select.select([self.read_end], [], [], 1)[0]:
                self.waiting += os.read(self.read_end, 1 << 20)
        one, self.waiting = self.waiting.split(b"\0", 1)
        message = json.loads(one)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(message["params"]["exceptionDetails"])[:400])
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            error = message["params"]["entry"]["text"] + " " + message["params"]["entry"].get("url", "")
            # the page may ask for an object or class that is not there
            if "status of 404" not in error or "/api/query/" not in error:
                self.errors.append(error)
        return message

    def call(self, method, **params):
        self.last += 1
        request = {"id": self.last, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + self.seconds
        while True:
            message = self.message(deadline)
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def run(self, script):
        """Returns the value of an expression in the page; awaits promises."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def until(self, script, seconds=30):
        """Waits until the expression is true, and returns whether it became true. The page itself polls it, and polls it
        again after it went to another address."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                if self.run(LOOK % (1000 * min(left, self.seconds / 2), script)):
                    return True
            except RuntimeError:
                time.sleep(0.02)
        return False

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def key(self, key):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, "End": 35, "Home": 36}
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=codes.get(key, 0), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=codes.get(key, 0))

    def click(self, x, y):
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

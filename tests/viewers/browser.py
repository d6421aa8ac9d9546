# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium that a test drives with real mouse and keys, over its debugging pipe."""
import base64
import fcntl
import json
import os
import subprocess


class Browser:
    """With a page of a given size; what is asked of it has to be answered in 60 s."""

    def __init__(self, width=1400, height=900):
        down, self.to = os.pipe()
        self.back, up = os.pipe()

        def connect():
            # The browser reads commands from 3 and answers on 4.
            ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (down, up)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = ["timeout", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                   "--allow-file-access-from-files", "--remote-debugging-pipe",
                   f"--window-size={width},{height}",
                   f"--user-data-dir={os.getcwd()}/chromium", "about:blank"]
        self.log = open("browser.log", "wb")
        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False,
                                        stdout=self.log, stderr=self.log)
        os.close(down)
        os.close(up)
        self.answers = os.fdopen(self.back, "rb")
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=target[0]["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def receive(self):
        while b"\0" not in self.buffer:
            more = self.answers.read1(1 << 16)
            assert more, "the browser has ended; see browser.log"
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path, fragment=""):
        """Loads a file; returns the ms until its first picture."""
        # The same page with another fragment would not be loaded again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{os.path.realpath(path)}{fragment}")
        self.run("new Promise(done => document.readyState === 'complete' ? done()"
                 " : addEventListener('load', done))")
        self.frame()
        return self.run("new Promise(done => new PerformanceObserver(list => "
                        "done(list.getEntries()[0].startTime))"
                        ".observe({ type: 'paint', buffered: true }))")

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def frame(self):
        """Until what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, name):
        return self.run(f"document.getElementById('{name}').textContent")

    def mouse(self, kind, x, y, button="none"):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
                  clickCount=int(button != "none"))

    def hover(self, x, y):
        """The tool tip there, empty if there is none."""
        self.mouse("mouseMoved", x, y)
        return self.run("(tip => tip.style.display === 'block' ? tip.textContent : '')"
                        "(document.getElementById('tip'))")

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")
        self.frame()

    def press(self, key, text=None):
        text = text or (key if len(key) == 1 else None)
        down = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])
        self.frame()

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def took(self, script):
        """The ms from an action until the page is drawn after it."""
        return self.run(f"(async () => {{ const from = performance.now(); {script};"
                        "await new Promise(requestAnimationFrame);"
                        "return performance.now() - from; })()")

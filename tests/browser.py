"""A headless Chromium that opens a page, driven through its own protocol over two pipes: no package is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.project import until

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
    "--remote-debugging-pipe", "about:blank",
)  # fmt: skip
_PATIENCE_S = 120.0


def program() -> str:
    """The browser of this machine; the test is skipped where there is none."""
    found = next((place for name in _NAMES if (place := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(_NAMES)}")
    return found


class Page:
    """One tab. Requests to anywhere, and what the console or the log said, are kept."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._data = b""
        self._number = 0
        self._session = ""
        self.requests: list[str] = []
        self.said: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Opens a file as a screen of that width shows it, and waits until it is loaded."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Page.navigate", url=page.as_uri())
        until(lambda: self.value("document.readyState + ' ' + location.protocol") == "complete file:", _PATIENCE_S)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives: asked from outside, the page's own policy runs no script."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(taken["data"])

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._data:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self._answers, 1_000_000)
            assert more, "the browser ended"
            self._data += more
        raw, _, self._data = self._data.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.said.append(json.dumps(message["params"]))
        return message


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with a profile of its own, which ends with the block."""
    name = program()
    to_browser, from_browser = os.pipe(), os.pipe()

    def descriptors() -> None:
        """The protocol wants its commands at 3 and its answers at 4."""
        commands, answers = os.dup(to_browser[0]), os.dup(from_browser[1])
        os.dup2(commands, 3)
        os.dup2(answers, 4)

    process = subprocess.Popen(
        [name, *_FLAGS, f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        close_fds=False, preexec_fn=descriptors,  # noqa: PLW1509 - nothing but this thread works here
    )  # fmt: skip
    os.close(to_browser[0])
    os.close(from_browser[1])
    try:
        yield Page(to_browser[1], from_browser[0])
    finally:
        process.kill()
        process.wait()
        os.close(to_browser[1])
        os.close(from_browser[0])

"""The system's Chromium at a server, as somebody with a desk or a phone has it."""

from __future__ import annotations

import base64
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.browser import program

PICTURES = "SWARMGATE_TEST_PICTURES"
"""The variable that names a folder for pictures of the pages; without it none are kept."""
_PATIENCE_S = 90.0


class Screen:
    """A browser of one width. What its console said is kept, and no page may reach beyond its width.

    Args:
        driver: Selenium's.
        url: of the server.
        name: of the pictures: width and scheme.
    """

    def __init__(self, driver: Any, url: str, name: str) -> None:
        self.driver, self.url, self.name = driver, url, name

    def open(self, path: str) -> None:
        self.driver.get(self.url + path)

    def find(self, css: str, text: str = "") -> Any:
        """The first visible element that has the text; waits for it."""
        return self.until(
            lambda: next((each for each in self.all(css) if text in each.text and each.is_displayed()), None)
        )

    def all(self, css: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements("css selector", css)
        return found

    def says(self, text: str) -> None:
        """Waits until the page says it, without a reload."""
        self.until(lambda: text in self.text)

    @property
    def text(self) -> str:
        return str(self.driver.execute_script("return document.body.innerText"))

    def click(self, css: str, text: str = "") -> None:
        element = self.find(css, text)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def fill(self, css: str, text: str) -> None:
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def until(self, condition: Callable[[], Any]) -> Any:
        """Waits for what a page becomes; elements that were replaced meanwhile are looked for again."""
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                if found := condition():
                    return found
            except StaleElementReferenceException:
                pass
            assert time.monotonic() < end, f"it never came true on {self.driver.current_url}:\n{self.text[:3000]}"
            time.sleep(0.05)

    def picture(self, name: str) -> None:
        """Keeps a picture of the whole page, and insists that it is no wider than the screen."""
        wider = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{name} is {wider} pixels wider than the screen"
        if folder := os.environ.get(PICTURES):
            taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
            place = Path(folder) / f"{name}-{self.name}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(base64.b64decode(taken["data"]))

    def said(self) -> list[str]:
        """What the console said that is worse than information."""
        return [each["message"] for each in self.driver.get_log("browser") if each["level"] in {"SEVERE", "WARNING"}]


@contextmanager
def screen(url: str, profile: Path, *, width: int, dark: bool = False, scripts: bool = True) -> Iterator[Screen]:
    """A browser of that width, in light or dark, with or without scripts; the test is skipped where there is none."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    driver_program = shutil.which("chromedriver")
    if driver_program is None:
        pytest.skip("no chromedriver is installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_program))
    try:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        if not scripts:
            driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        yield Screen(driver, url, f"{width}-{'dark' if dark else 'light'}")
    finally:
        driver.quit()

"""A headless Chromium for tests of pages: spoken to over pipes, nothing is installed
for it.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from waiting import patience

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), ""
)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")
LIMIT = 240.0
"""Seconds after which a test gives up waiting."""
KEYS = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowRight": 39, "ArrowDown": 40}
"""Keys by their names, with the numbers that browsers give them."""
TYPED = {"Enter": "\r", "Space": " "}
"""What a key writes, if it writes something."""


class Browser:
    """One window of a browser; `ask` and `told` are the ends of pipes to it."""

    def __init__(self, ask: int, message: int, downloads: Path) -> None:
        self._ask, self._told, self._number, self._rest = ask, message, 0, b""
        self._session = ""
        self.downloads = downloads
        self.events: list[dict[str, Any]] = []
        context = {"behavior": "allow", "downloadPath": str(downloads)}
        self.send("Browser.setDownloadBehavior", **context)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        result = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = result["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command of the DevTools protocol."""
        self._number += 1
        fields = {"id": self._number, "method": method, "params": params}
        fields |= {"sessionId": self._session} if self._session else {}
        os.write(self._ask, json.dumps(fields).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._told], [], [], patience(LIMIT))[0], (
                "the browser does not answer"
            )
            more = os.read(self._told, 1 << 16)
            assert more, "the browser went away"
            self._rest += more
        each, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(each)
        return message

    def open(self, page: Path) -> None:
        """Open a file, forget what was told of another, and wait until it is there."""
        self.events.clear()
        self.send("Page.navigate", url=page.as_uri())
        text = (
            "document.readyState == 'complete' && location.href == "
            f"{json.dumps(page.as_uri())}"
        )
        self.until(lambda: self.value(text) is True)

    def value(self, script: str) -> Any:
        """Return what a script finds in the page; the page's own policy does not bind
        it.
        """
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after another, by their names: see KEYS."""
        for name in keys:
            key = {"key": " " if name == "Space" else name, "code": name}
            key |= {"text": TYPED[name]} if name in TYPED else {}
            for kind in ("keyDown", "keyUp"):
                fields = {"type": kind, "windowsVirtualKeyCode": KEYS[name], **key}
                self.send("Input.dispatchKeyEvent", **fields)

    def show(self, width: int, *, dark: bool = False, media: str = "") -> None:
        """Show pages as on a device of this width: a phone has 390 points, a desktop
        1280.
        """
        phone = width < 600
        size = {"width": width, "height": 844 if phone else 900, "deviceScaleFactor": 1}
        self.send("Emulation.setDeviceMetricsOverride", mobile=phone, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def picture(self, file: Path) -> None:
        """Save what the window shows, the top of the page."""
        shot = self.send("Page.captureScreenshot", format="png")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Return what went wrong since the page was opened: errors, warnings,
        exceptions.
        """
        self.send(
            "Runtime.evaluate", expression="0"
        )  # what happened before has been told then
        return [result for event in self.events if (result := _complaint(event))]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since a page was opened."""
        self.send("Runtime.evaluate", expression="0")
        return [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def saved(self, number: int = 1) -> list[Path]:
        """Wait for so many files to be downloaded and return them, by name."""

        def files() -> list[Path]:
            return sorted(self.downloads.glob("[!.]*"))

        self.until(
            lambda: (
                len(files()) == number and not any(self.downloads.glob("*.crdownload"))
            )
        )
        return files()

    def until(self, done: Callable[[], bool]) -> None:
        """Wait until something holds."""
        end = time.monotonic() + patience(LIMIT)
        while not done():
            assert time.monotonic() < end, "the browser did not do it in time"
            time.sleep(0.05)


def _complaint(event: dict[str, Any]) -> str:
    """Return what is wrong, "" for an event that says nothing of the kind."""
    result = event.get("params", {})
    match event.get("method"):
        case "Runtime.exceptionThrown":
            return json.dumps(result["exceptionDetails"])
        case "Runtime.consoleAPICalled" if result["type"] in {
            "error",
            "warning",
            "assert",
        }:
            return json.dumps(result["args"])
        case "Log.entryAdded" if result["entry"]["level"] in {"error", "warning"}:
            return json.dumps(result["entry"])
    return ""


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Yield a browser that keeps everything in a folder, its downloads in
    `downloads`.
    """
    downloads = folder / "downloads"
    downloads.mkdir(parents=True)
    asked, ask = os.pipe()
    result, tell = os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command = [CHROMIUM, *options, f"--user-data-dir={folder / 'profile'}"]
    # the browser reads commands from its descriptor 3 and writes to 4, whatever they
    # are here
    shell = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    process = subprocess.Popen(
        [
            "bash",
            "-c",
            shell,
            str(asked),
            str(tell),
            *command,
            "--remote-debugging-pipe",
        ],
        pass_fds=(asked, tell),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(asked)
    os.close(tell)
    try:
        yield Browser(ask, result, downloads)
    finally:
        process.terminate()
        process.wait(patience(LIMIT))
        os.close(ask)
        os.close(result)

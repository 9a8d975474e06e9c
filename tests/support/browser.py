"""A real Chromium before an application that listens on a port of its own, and what a page must never do."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from werkzeug.serving import make_server

from tools.cluster.program import installed


@contextmanager
def serving(app) -> Iterator[str]:
    """The address of the application while it is served."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def chromium() -> str:
    """Where Chromium is installed. The one without windows takes a quarter of the processor. Raises NotInstalled."""
    found = filter(None, map(shutil.which, ("chromium-headless-shell", "chromium-browser", "google-chrome")))
    return next(found, None) or installed("chromium", "chromium")


def follow(what, key=None):
    """Clicks what leads to another page, or presses this key there, and waits until that page is loaded: who reads at once may
    read half of it."""
    with what.page.expect_navigation():
        what.press(key) if key else what.click()


def reach(page, wanted, most=400):
    """Goes to an element by the Tab key alone."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{wanted} is not reached by {most} steps of the Tab key")


class Watched:
    """A page whose faults are noted: errors in the console, and requests to other hosts."""

    def __init__(self, context, root):
        self.root = root
        self.page = context.new_page()
        self.faults = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", self._asked)

    def _said(self, message):
        """Chromium also says that a page itself came with status 400, which is meant."""
        if message.type in ("error", "warning") and message.location["url"] != self.page.url:
            self.faults.append(message.text)

    def _asked(self, request):
        if not request.url.startswith((self.root, "data:")):
            self.faults.append(f"asked {request.url}")

    def go(self, path="/"):
        """Opens a path of the service."""
        return self.page.goto(self.root + path)

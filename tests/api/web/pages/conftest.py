"""A browser, the pages of the packaged prices in it, and the application behind them."""

import pytest
from playwright.sync_api import expect, sync_playwright
from support.browser import Watched, chromium, serving

PATIENCE = 120_000  # ms, of a busy machine; Playwright's own are 5 and 30 s
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser():
    program = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def root(app):
    with serving(app) as address:
        yield address


@pytest.fixture
def look(browser, root):
    """Opens a page in a fresh context; in the end none may have complained or asked another host."""
    contexts, pages = [], []

    def open_page(path="/", width=1280, root=root, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **options))
        contexts[-1].set_default_timeout(PATIENCE)
        contexts[-1].grant_permissions(["clipboard-read", "clipboard-write"])
        pages.append(Watched(contexts[-1], root))
        pages[-1].go(path)
        return pages[-1].page

    yield open_page
    for context in contexts:
        context.close()
    assert [fault for page in pages for fault in page.faults] == []

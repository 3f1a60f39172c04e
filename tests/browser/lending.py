"""One Chromium, and contexts that test after test uses: a new process takes as long as most looks at a page."""

import shutil

from patience import LONG

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # what draws without a GPU needs no process of its own
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # pages of one context share a process: a new one takes half of what a page does
]


class Chromium:
    """One browser for all files that follow each other, whose pages wait as long as every test does.

    `lend` gives a context like new: one that was given back has no page, no cookie and nothing stored, but
    it has its process, and files that never change.
    """

    def __init__(self):
        from playwright.sync_api import expect, sync_playwright

        expect.set_options(timeout=1000 * LONG)  # patience, for machines that do other things too
        self._manager = sync_playwright()
        self._playwright = self._manager.__enter__()
        self._browser = self._playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        self._free = {}

    def new_context(self, **options):
        context = self._browser.new_context(**options)
        context.set_default_timeout(1000 * LONG)
        return context

    def new_page(self, **options):
        page = self._browser.new_page(**options)
        page.set_default_timeout(1000 * LONG)
        return page

    def lend(self, address, **options):
        """Return a context like new; it goes to the next who asks for the same once it is cleaned."""
        free = self._free.setdefault(repr(sorted(options.items())), [])
        return free.pop() if free else Lent(self.new_context(**options), address, free)

    def close(self):
        self._browser.close()
        self._manager.__exit__(None, None, None)


class Lent:
    """A context that test after test uses, with one page that keeps its process alive."""

    def __init__(self, context, address, free):
        self.context = context
        self._free = free
        self._origins = set()
        self._keeper = context.new_page()
        self._keeper.goto(f"{address}/static/icon.svg")
        self._wire = context.new_cdp_session(self._keeper)
        context.on("request", self._request)

    def _request(self, request):
        self._origins.add("/".join(request.url.split("/", 3)[:3]))

    def page(self):
        """Return a page of the keeper's process: by itself it would begin in a new one."""
        with self.context.expect_page() as opened:
            self._keeper.evaluate("() => { window.open('about:blank') }")
        return opened.value

    def clean(self):
        for page in self.context.pages:
            if page != self._keeper:
                page.close()
        self.context.clear_cookies()
        for origin in self._origins:
            asked = {"origin": origin, "storageTypes": "all"}
            self._wire.send("Storage.clearDataForOrigin", asked)
        self._origins.clear()
        self._free.append(self)

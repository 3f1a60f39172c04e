"""One server with the town, one Chromium, and a page that tells of everything that goes wrong."""

from __future__ import annotations

import fcntl
import secrets
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest
import uvicorn

from child_tasks import on_path
from discreet.lab.attacks import linkage
from discreet.lab.attacks.attacks import AttackSettings, attack_named
from discreet.lab.town import town
from discreet.server.access.tokens import Role
from discreet.server.features.frame.charts import chart_bundle
from discreet.server.features.frame.pages import _Assets
from discreet.server.features.lab.in_child import Lab, shown_of, usual_id
from discreet.server.features.lab.pages import FIRST
from discreet.server.jobs.children import MODULE
from discreet.server.settings import STATE, Settings
from discreet.server.start import create_app
from discreet.survey.command import begin_survey
from discreet.survey.store import SurveyStore
from patience import LONG
from ports import free_port
from quick_jobs import quick_jobs
from workers import worker

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gates import GatedEngine, HeldJob
from lending import CHROMIUM, Chromium
from sluggish import sluggish

HERE = Path(__file__).parent
PEOPLE = 2000
ANALYSTS = """
[analysts.alice]
datasets = { town = { epsilon = 0.3 } }
"""


def missing():
    """Return what keeps a browser from starting here, as one sentence; empty if nothing does."""
    if CHROMIUM is None:
        return "there is no chromium on this machine"
    driver = find_spec("playwright")
    node = Path(driver.origin).parent / "driver" / "node" if driver and driver.origin else None
    if node is None:
        return "playwright is not installed"
    if subprocess.run([node, "--version"], capture_output=True, check=False).returncode:
        return "playwright's node does not start here; Debian has what it lacks in libatomic1"
    return ""


def pytest_collection_modifyitems(items):
    ours = [item for item in items if HERE in item.path.parents]
    reason = missing() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.browser)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@dataclass
class Served:
    """A running server and its tokens."""

    app: object
    address: str
    owner: str
    analyst: str | None
    config: Path

    @property
    def context(self):
        return self.app.state.context


class Server(threading.Thread):
    """uvicorn in a thread; ready when `start` returns."""

    def __init__(self, app, port):
        super().__init__(daemon=True)
        config = uvicorn.Config(sluggish(app), host="127.0.0.1", port=port, log_level="error")
        self.server = uvicorn.Server(config)
        self._ready = threading.Event()
        started = self.server.startup

        async def startup(sockets=None):
            await started(sockets)
            self._ready.set()

        self.server.startup = startup

    def run(self):
        self.server.run()

    def start(self):
        super().start()
        assert self._ready.wait(LONG), "the server did not start"

    def stop(self):
        self.server.should_exit = True
        self.join(LONG)


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A town, the library of charts and what the lab opens with: made once for all workers, and copied."""
    shared = tmp_path_factory.getbasetemp()
    if worker() is not None:
        shared = shared.parent
    folder, made = shared / "home-of-browsers", shared / "home-of-browsers.made"
    with (shared / "home-of-browsers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            (folder / STATE).mkdir(mode=0o700, parents=True)
            town(people=PEOPLE, folder=folder, ratings=20_000, genotypes=50)
            chart_bundle(folder / STATE)
            attack_once(folder / STATE)
            made.touch()
    return folder


def attack_once(state):
    """Keep an outcome for the lab to open with, of a small town; test_lab.py lets the page make its own."""
    attack = attack_named(FIRST)
    with patch.object(linkage, "ASKED", 10):  # the page shows a share, of however many
        outcome = attack.run(AttackSettings.of(attack.knobs, {"people": 1000}).values)
    Lab(state).keep(shown_of(usual_id(attack), outcome), durable=True)


def serve(home, folder, *, epsilon, analysts=""):
    shutil.copytree(home, folder, dirs_exist_ok=True)
    config = folder / "discreet.toml"
    text = config.read_text(encoding="utf-8").replace("epsilon = 1.0", f"epsilon = {epsilon}")
    config.write_text(text + analysts, encoding="utf-8")
    port = free_port()
    settings = Settings(config=config, port=port, rate=10_000, burst=10_000, spare_child=False)
    app = create_app(settings)
    tokens = app.state.context.tokens
    analyst = tokens.new(Role.ANALYST, analyst="alice").text if analysts else None
    address = f"http://127.0.0.1:{settings.port}"
    return Served(app, address, tokens.new(Role.OWNER).text, analyst, config), settings.port


@pytest.fixture(scope="session")
def served(home, tmp_path_factory):
    """A server on which nobody runs out of budget."""
    found, port = serve(home, tmp_path_factory.mktemp("served"), epsilon="1000.0")
    server = Server(found.app, port)
    server.start()
    yield found
    server.stop()


@pytest.fixture
def untouched(home, tmp_path):
    """A server that nobody has asked anything yet."""
    found, port = serve(home, tmp_path / "untouched", epsilon="1.0")
    server = Server(found.app, port)
    server.start()
    yield found
    server.stop()


@pytest.fixture
def small(home, tmp_path):
    """A server with a budget of 0.5, of which the analyst alice may have 0.3."""
    found, port = serve(home, tmp_path / "small", epsilon="0.5", analysts=ANALYSTS)
    server = Server(found.app, port)
    server.start()
    yield found
    server.stop()


@pytest.fixture(scope="module", autouse=True)
def jobs():
    """Processes of jobs start at once: pages show how they go, and other tests how they start."""
    with quick_jobs((MODULE, "child_held")):
        yield


@pytest.fixture(scope="module", autouse=True)
def kept_files():
    """Let the browser keep the files of pages: they do not change while tests run, and asking is a third of a visit.

    That browsers ask each time is tested in tests/end_to_end/test_server_pages.py. What respondents need without a
    connection is asked for here too.
    """
    asked = _Assets.file_response

    def kept(self, full_path, *arguments, **named):
        response = asked(self, full_path, *arguments, **named)
        if "survey" not in Path(full_path).parts:
            response.headers["Cache-Control"] = "max-age=86400"
        return response

    with patch.object(_Assets, "file_response", kept):
        yield


RUNNING = []
"""The browser, while tests of this folder follow each other."""


@pytest.fixture(scope="module")
def chromium():
    if not RUNNING:
        RUNNING.append(Chromium())
    return RUNNING[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem):
    """Close the browser before tests of other folders: its event loop runs in this thread, and they want their own."""
    try:
        return (yield)
    finally:
        if nextitem is None or HERE not in nextitem.path.parents:
            close_browser()


def pytest_sessionfinish():
    close_browser()  # who stops at the first failure has not come to the last test


def close_browser():
    while RUNNING:
        RUNNING.pop().close()


@dataclass
class Watched:
    """What a page did: every address it asked for, and everything it complained of."""

    requests: list[str] = field(default_factory=list)
    sent: list[tuple[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page):
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._console)

    def _request(self, request):
        self.requests.append(request.url)
        self.sent.append((request.method, request.url))

    def _console(self, message):
        # A refused question is answered 4xx, which the console repeats: that is no complaint.
        if message.type in ("error", "warning") and "the server responded with" not in message.text:
            self.complaints.append(message.text)


@pytest.fixture
def visit(chromium):
    """Return a function that opens a signed-in page; afterwards nothing may have gone wrong."""
    lent, watched = [], Watched()

    def opened(served, path="/ask", *, token=None, viewport=None, color_scheme="light", **options):
        lent.append(chromium.lend(served.address, accept_downloads=True, **options))
        context, page = lent[-1].context, lent[-1].page()
        page.set_viewport_size(viewport or {"width": 1200, "height": 900})
        page.emulate_media(color_scheme=color_scheme)
        watched.watch(page)
        page.watched = watched
        page.address = served.address
        if token != "":
            # The same request as a visit to the link, without drawing the page behind it.
            link = f"{served.address}/?token={token or served.owner}"
            context.request.get(link, max_redirects=0, headers={"Sec-Fetch-Site": "none"})
        page.goto(served.address + path)
        return page

    yield opened
    for each in lent:
        each.clean()
    assert watched.complaints == []


@pytest.fixture
def held_job(served, tmp_path, monkeypatch):
    """Hold the children of `served` for one test."""
    monkeypatch.setenv("PYTHONPATH", on_path())
    monkeypatch.setenv("CHILD_HELD", f"storing the codes|{tmp_path / 'child'}")
    monkeypatch.setattr(served.context.children, "module", "child_held")
    held = HeldJob(tmp_path / "child")
    yield held
    held.go()


@pytest.fixture
def gated(served):
    """Put a gate before the engine of `served` for one test."""
    with served.context.workspace.curator() as curator:
        inner = curator.engine
        engine = GatedEngine(inner)
        curator.__dict__["engine"] = engine
    yield engine
    engine.gate.set()
    curator.__dict__["engine"] = inner


@pytest.fixture
def survey(served, tmp_path):
    """Return a function that begins a survey beside the server's discreet.toml."""
    from respondent_kit import YES_NO

    def begun(toml=None):
        file = tmp_path / f"s{secrets.token_hex(4)}.toml"
        file.write_text(toml or YES_NO, encoding="utf-8")
        begin_survey(file, served.config.parent)
        return SurveyStore.open(file.stem, served.config.parent)

    return begun


@pytest.fixture
def device(chromium, served):
    """Return a function that gives somebody a device; afterwards nothing may have gone wrong."""
    from respondent_kit import Respondent

    given = []

    def device_of(store, **more):
        given.append(Respondent(chromium, served, store, **more))
        return given[-1]

    yield device_of
    for respondent in given:
        respondent.leave()
        assert respondent.complaints == []

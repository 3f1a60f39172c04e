"""The server is killed in the middle of things: the page says so, and brings back what can be brought."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from child_tasks import on_path
from discreet.data.engines.fork_server import _ONE_THREAD
from discreet.server.features.frame.charts import FOLDER as CHARTS
from discreet.server.settings import STATE
from patience import LONG, eventually
from ports import free_port
from server_kit import write_world

PROGRAM = Path(__file__).parent / "killable.py"
COUNT = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


class Killable:
    """One data set, served by one process after the other on the same port."""

    def __init__(self, folder, charts):
        self.config = write_world(folder, rows=50, epsilon="100", analysts="")
        shutil.copytree(
            charts, folder / STATE / charts.name
        )  # or every server would make them anew
        self.port = free_port()
        self.child = folder / "child"
        self.address = f"http://127.0.0.1:{self.port}"
        self.forks = None
        self.process = None
        self.owner = ""

    def start(self, where="", words=""):
        if self.process is not None:  # one at a time: the next would wait for its end
            self.kill()
        if self.forks is None:
            held = {"CHILD_HELD": f"stored|{self.child}", "PYTHONPATH": on_path()}
            self.forks = subprocess.Popen(
                [sys.executable, PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | _ONE_THREAD | held,
            )
        known = "known" if self.owner else "new"
        order = [str(self.config), self.port, known, where, words]
        self.forks.stdin.write(json.dumps(order) + "\n")
        self.forks.stdin.flush()
        self.process = int(self.forks.stdout.readline())
        self.owner = self.owner or self.forks.stdout.readline().strip()
        self.reached, self.ended = threading.Event(), threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        eventually(self._listens, "the server did not start")

    def _listens(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
            return True
        return False

    def _listen(self):
        while (line := self.forks.stdout.readline().strip()) not in ("ended", ""):
            if line == "reached":
                self.reached.set()
        self.ended.set()

    def kill(self):
        os.kill(self.process, signal.SIGKILL)
        assert self.ended.wait(LONG), "the server was not killed"
        self.process = None

    def close(self):
        if self.process is not None:
            self.kill()
        if self.forks is not None:
            self.forks.communicate()

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.owner}"}

    def got(self, path):
        address = f"{self.address}/api/v1{path}"
        return httpx.get(address, headers=self.headers, timeout=LONG).json()

    def charges(self):
        found = self.got("/history?last=1000")["entries"]
        return [entry for entry in found if entry["kind"] == "charge"]


@pytest.fixture(scope="module")
def killable(tmp_path_factory, home):
    found = Killable(tmp_path_factory.mktemp("killable"), home / STATE / CHARTS)
    yield found
    found.close()


def killed(killable, page, number):
    """Ask a question; when the server has reached its gate, it is killed. The page stays open."""
    before = len(killable.charges())
    page.fill("#sql", COUNT.format(number))
    expect(page.locator("#go")).to_contain_text("uses")
    page.click("#go")
    assert killable.reached.wait(LONG)
    killable.kill()
    expect(page.locator("#step")).to_contain_text("The server does not answer")
    expect(page.locator("#step")).to_contain_text("not known before")
    claims_nothing(page)
    expect(page.locator("#steps")).to_be_hidden()
    return before


def claims_nothing(page):
    """Nothing on the page says what became of the charge or the answer: it cannot know it."""
    said = page.inner_text("main")
    assert re.findall(r"(?i)\bkept\b|\blost\b|nothing was|charge stands|comes back", said) == []


def half_an_upload(killable, wire):
    """Send the first bytes of a file, until the server has begun to store it."""
    headers = f"Host: x\r\nAuthorization: Bearer {killable.owner}\r\n"
    kind = "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n"
    part = (
        '--b\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\nage\n1\n'
    )
    wire.sendall(f"POST /api/v1/data/uploads HTTP/1.1\r\n{headers}{kind}{part}".encode())
    uploads = killable.config.parent / ".discreet" / "uploads"
    eventually(lambda: uploads.is_dir() and any(uploads.iterdir()), "no upload began")


def a_copy(killable, page):
    """Begin a synthetic copy and kill the server when its model is stored, but no file is written."""
    before = len(killable.charges())
    page.goto(killable.address + "/synthesize")
    page.check('input[name="method"][value="independent"]')
    expect(page.locator("#go")).to_contain_text("uses 1.00")
    page.click("#go")
    eventually(killable.child.exists, "the child did not get there")
    killable.kill()
    expect(page.locator("#step")).to_contain_text("The server does not answer")
    return before


def test_killed_in_the_middle_of_questions_an_upload_and_a_copy(killable, chromium):
    killable.start("charge", "> 30")
    page = chromium.new_page()
    page.goto(f"{killable.address}/?token={killable.owner}")
    page.goto(killable.address + "/ask")

    before = killed(killable, page, 30)
    killable.start("stored", "> 31")
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    assert len(killable.charges()) == before + 1, "it had not been paid for, and is paid once"

    before = killed(killable, page, 31)
    killable.start("reading", "> 32")
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    assert len(killable.charges()) == before + 1, "what was stored is delivered, not paid again"

    with socket.create_connection(("127.0.0.1", killable.port)) as wire:
        half_an_upload(killable, wire)
        before = killed(killable, page, 32)
    killable.start("child")
    expect(page.locator("#price-problem")).to_contain_text("charge stands")
    assert len(killable.charges()) == before + 1
    assert killable.charges()[0]["outcome"] == "lost"
    assert killable.got("/data/uploads") == {"uploads": []}, "half a file is no file"
    page.reload()
    expect(page.locator("#go")).to_contain_text("uses")
    assert len(killable.charges()) == before + 1, "nothing is asked again without a word"

    before = a_copy(killable, page)
    killable.start()
    expect(page).to_have_url(re.compile(r"/synthesize/[0-9a-f]{32}$"))
    assert len(killable.charges()) == before + 1, "the copy is made from what was paid for"
    page.context.close()


def test_who_gives_up_waiting_is_told_nothing_that_only_the_ledger_knows(killable, chromium):
    """Killed before the charge, with an answer in hand, and in between: three outcomes, one sentence."""
    outcomes, said = [], []
    for number, place in enumerate(("charge", "stored", "reading"), 60):
        killable.start(place, f"> {number}")
        page = chromium.new_page()
        page.goto(f"{killable.address}/?token={killable.owner}")
        page.goto(killable.address + "/ask")
        before = killed(killable, page, number)
        page.click("#cancel")
        problem = page.locator("#price-problem")
        expect(problem).to_contain_text("given up")
        expect(problem).to_contain_text("not known here")
        said.append(problem.inner_text())
        claims_nothing(page)
        killable.start()
        charged = killable.charges()
        outcomes.append(charged[0]["outcome"] if len(charged) > before else None)
        page.goto(killable.address + "/ask")
        expect(page.locator("#go")).to_contain_text(re.compile("uses|free"))
        assert len(killable.charges()) == len(charged), "what was given up is not asked again"
        again = httpx.get(killable.address + "/api/v1/jobs", headers=killable.headers).json()
        assert again == {"jobs": []}
        page.context.close()
        killable.kill()
    assert outcomes == [None, "answered", "lost"]
    assert len(set(said)) == 1


def test_cancelled_after_a_restart_the_job_says_what_the_ledger_knows(killable):
    """The same id was charged by the server that was killed: to cancel it now does not make it free."""
    said = {}
    jobs = killable.address + "/api/v1/jobs"
    for number, place in enumerate(("charge", "stored", "reading"), 70):
        body = {"sql": COUNT.format(number), "epsilon": "1", "request_id": f"twice-{place}"}
        killable.start(place, f"> {number}")
        httpx.post(jobs, json=body, headers=killable.headers)
        assert killable.reached.wait(LONG)
        killable.kill()
        killable.start("planning")
        httpx.post(jobs, json=body | {"request_id": "first"}, headers=killable.headers)
        assert killable.reached.wait(LONG), "the first question is in nobody's way"
        waiting = httpx.post(jobs, json=body, headers=killable.headers).json()["job"]
        ended = httpx.delete(f"{jobs}/{waiting}", headers=killable.headers).json()
        named = [e for e in killable.charges() if e["request_id"] == body["request_id"]]
        outcome = named[0]["outcome"] if named else None
        assert ended["charged"] is (outcome is not None)
        said[outcome] = killable.got(f"/jobs/{waiting}")["problem"]["detail"]
        killable.kill()
    cancelled = "The question was cancelled. "
    assert said == {
        None: cancelled + "Nothing was charged.",
        "answered": cancelled + "The charge stands, and the answer is kept.",
        "lost": cancelled + "The charge stands, and there is no answer.",
    }


def test_another_person_does_not_pay_for_what_the_last_one_began(served, visit):
    page = visit(served)
    begun = {"kept": "discreet-question", "id": "f" * 32, "path": "/jobs", "who": "analyst zoe"}
    begun["body"] = {"sql": COUNT.format(77), "epsilon": "1"}
    page.evaluate("work => localStorage.setItem(work.kept, JSON.stringify(work))", begun)
    page.reload()
    # It is priced: whether it is free hangs on what other tests have paid for.
    expect(page.locator("#go")).to_contain_text(re.compile("uses|free"))
    assert ("POST", f"{served.address}/api/v1/jobs") not in page.watched.sent

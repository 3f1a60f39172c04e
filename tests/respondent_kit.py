"""Respondents in a real browser: each an isolated device with a log of everything that leaves it."""

import json

from playwright.sync_api import expect

from discreet.survey.mechanisms import MECHANISMS
from discreet.survey.randomizers.base import AnswerDomain

SIZE = {"width": 390, "height": 844}
YES_NO = 'title = "Smoking"\nepsilon = "1.0986"\n[questions.smokes]\nkind = "yes-no"\ntext = "Do you smoke?"\n'
ALL_KINDS = """
title = "All kinds"
epsilon = 12
[questions.smokes]
kind = "yes-no"
[questions.grade]
kind = "choice"
options = ["9", "10", "11", "12"]
[questions.street]
kind = "choice"
options = [STREETS]
[questions.hours]
kind = "number"
lower = 0
upper = 12
[questions.emoji]
kind = "open"
""".replace("STREETS", ", ".join(f'"street {i}"' for i in range(300)))
_OVER = {
    AnswerDomain.TWO: {"kind": "yes-no"},
    AnswerDomain.OPTIONS: {"kind": "choice", "options": ["a", "b", "c", "d", "e"]},
    AnswerDomain.NUMBERS: {"kind": "number", "lower": 0, "upper": 12},
    AnswerDomain.WORDS: {"kind": "open", "rows": 1024, "buckets": 32},
}


def every_mechanism(epsilon, **more):
    """Return what a survey states that asks one question a mechanism."""
    questions = {
        name.replace("-", "_"): {**_OVER[mechanism.over], "mechanism": name}
        for name, mechanism in MECHANISMS.items()
    }
    return {"title": "Every mechanism", "epsilon": epsilon, "questions": questions, **more}


CONSENT, QUESTIONS, PREVIEW = (
    f"#survey[data-step={step}]" for step in ("consent", "questions", "preview")
)
SENT, WAITING, NOTHING, ANSWERED, FORGOTTEN = (
    f"#survey[data-step={step}]" for step in ("sent", "waiting", "nothing", "answered", "forgotten")
)
TRUTH, LIE = bytes(4), b"\xff" * 4
"""A word of coins that tells the answer, and one that tells another."""


def coins(*words):
    """Return the operating system's bytes of one visit: a one-use id, then these words, then more."""
    return bytes(range(16)) + b"".join(words) + bytes(range(256)) * 64


_RECORDED = """{
  const bytes = new Uint8Array(%s);
  let used = 0;
  const value = (place) => {
    for (let i = 0; i < place.length; i += 1) place[i] = bytes[used++];
    return place;
  };
  Object.defineProperty(crypto, "getRandomValues", { value });
}"""

KEPT = """async () => {
  const copies = {};
  for (const name of await caches.keys()) {
    const found = await (await caches.open(name)).keys();
    copies[name] = found.map((each) => each.url).sort();
  }
  const workers = await navigator.serviceWorker.getRegistrations();
  return {
    local: { ...localStorage },
    session: { ...sessionStorage },
    cookie: document.cookie,
    databases: (await indexedDB.databases()).map(({ name }) => name),
    copies,
    workers: workers.map(({ scope }) => scope),
  };
}"""


class Respondent:
    """One isolated device: a browser context of its own or like new, with a log of its requests."""

    def __init__(self, chromium, served, store, *, coins=None, script=None):
        self._left = False
        self.store = store
        self.path = f"/s/{store.plan.survey.name}"
        self._lent = None
        if (coins, script) == (None, None):
            self._lent = chromium.lend(served.address, viewport=SIZE)
            self.context, self.page = self._lent.context, self._lent.page()
        else:  # what is put into a context stays there
            self.context = chromium.new_context(viewport=SIZE)
            self.page = self.context.new_page()
        self.complaints = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._console)
        if coins is not None:
            self.context.add_init_script(_RECORDED % json.dumps(list(coins)))
        if script is not None:
            self.context.add_init_script(script)
        self.requests = []
        self.page.on("request", self._request)
        self.served = served
        self.open()

    def _request(self, request):
        # The tab's icon is the same for everybody, and comes whenever the browser likes.
        if not request.url.endswith("/static/icon.svg"):
            self.requests.append(request)

    def _console(self, message):
        # That there is no connection, or a 4xx, is told by the console too: no complaint.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def open(self):
        self.page.goto(self.served.address + self.path)

    def press(self, which):
        """Press one of the two equal buttons."""
        self.page.locator(".pair button").nth(which).click()

    def begin(self):
        expect(self.page.locator(CONSENT)).to_be_visible()
        self.press(0)
        expect(self.page.locator(QUESTIONS)).to_be_visible()

    def say(self, answer):
        self.page.check(f"input[name=smokes][value={answer}]")

    def look(self):
        self.press(0)
        expect(self.page.locator(PREVIEW)).to_be_visible()

    def send(self):
        self.press(0)

    def answer(self, answer):
        self.begin()
        self.say(answer)
        self.look()
        self.send()

    def kept(self):
        """Return all that the browser keeps for this site."""
        found = self.page.evaluate(KEPT)
        return found | {"cookies": self.context.cookies()}

    @property
    def sent(self):
        """Return the requests that carried a body."""
        return [request for request in self.requests if request.method != "GET"]

    def leave(self):
        if self._lent is None:
            self.context.close()
        elif not self._left:
            self.context.set_offline(False)
            self._lent.clean()
        self._left = True

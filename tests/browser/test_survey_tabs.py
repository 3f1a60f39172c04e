"""Several tabs and several people on one device: what was taken back is not sent, by whichever tab."""

import json
import random

import pytest
from playwright.sync_api import expect

from discreet.server.features.survey.pages import words_in
from respondent_kit import (
    ANSWERED,
    CONSENT,
    FORGOTTEN,
    KEPT,
    NOTHING,
    PREVIEW,
    QUESTIONS,
    SENT,
    SIZE,
    WAITING,
)

WORDS = words_in("en")
ELSEWHERE = "#survey[data-step=elsewhere]"
SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))]
ACTIONS = 12


class SharedDevice:
    """One browser with any number of tabs, and a collector of its own that can be out of reach."""

    def __init__(self, chromium, served, store, *, altered=()):
        self.context = chromium.new_context(viewport=SIZE, service_workers="block")
        self.served, self.up, self.got, self.complaints = served, True, [], []
        self.url = f"{served.address}/s/{store.plan.survey.name}"
        self.name = f"discreet survey {store.plan.id.hex()}"
        self.context.route("**/reports", self._collect)
        for script, old, new in altered:
            self._alter(script, old, new)
        self.reader = self.context.new_page()
        self.reader.goto(f"{served.address}/static/icon.svg")

    def _collect(self, route):
        if not self.up:
            route.abort()
            return
        self.got.append(route.request.post_data_buffer.hex())
        route.fulfill(status=200, body="{}")

    def _alter(self, script, old, new):
        def alter(route):
            found = route.fetch()
            text = found.text()
            assert text.count(old) == 1
            route.fulfill(response=found, body=text.replace(old, new))

        self.context.route(f"**/{script}", alter)

    def tab(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.url)
        return page

    def connect(self, up):
        self.up = up
        for page in self.context.pages if up else []:
            page.evaluate("dispatchEvent(new Event('online'))")

    def local(self):
        return self.reader.evaluate("({ ...localStorage })")

    def pending(self):
        return json.loads(self.local().get(self.name, '{"pending": []}'))["pending"]

    def leave(self):
        self.context.close()
        assert self.complaints == []


@pytest.fixture
def shared(chromium, served, survey):
    given = []

    def shared_device(**more):
        given.append(SharedDevice(chromium, served, survey(), **more))
        return given[-1]

    yield shared_device
    for each in given:
        each.leave()


def press(page, word):
    page.click(f"button:text-is({json.dumps(WORDS[word])})")


def look(page, answer):
    """Answer as far as the preview, and return the bytes that it shows."""
    expect(page.locator(CONSENT)).to_be_visible()
    press(page, "begin")
    expect(page.locator(QUESTIONS)).to_be_visible()
    page.check(f"input[name=smokes][value={answer}]")
    press(page, "look")
    expect(page.locator(PREVIEW)).to_be_visible()
    return page.locator(".bytes").text_content()


def waiting_tab(device, answer="yes"):
    device.connect(False)
    page = device.tab()
    look(page, answer)
    press(page, "send")
    expect(page.locator(WAITING)).to_be_visible()
    return page


@pytest.mark.parametrize("how", ["forget", "stop"])
def test_what_another_tab_takes_back_is_not_sent(shared, how):
    device = shared()
    one = waiting_tab(device)
    two = device.tab()
    expect(two.locator(WAITING)).to_be_visible()
    press(two, how)
    expect(two.locator(FORGOTTEN if how == "forget" else NOTHING)).to_be_visible()
    expect(one.locator(ELSEWHERE)).to_contain_text(
        WORDS["forgotten_elsewhere" if how == "forget" else "elsewhere"]
    )
    kept = device.local()
    assert kept == ({} if how == "forget" else {device.name: '{"done":1,"pending":[]}'})
    device.connect(True)
    three = device.tab()
    expect(three.locator(CONSENT if how == "forget" else ANSWERED)).to_be_visible()
    assert device.got == []
    assert device.local() == kept


NEVER_ASKED = (
    ("device.js", "return this.memory.of(survey).pending.includes(hex(bytes));", "return true;"),
)


def test_a_tab_that_does_not_look_again_sends_what_was_forgotten(shared):
    """The broken twin."""
    device = shared(altered=NEVER_ASKED)
    one = waiting_tab(device)
    two = device.tab()
    expect(two.locator(WAITING)).to_be_visible()
    press(two, "forget")
    expect(two.locator(FORGOTTEN)).to_be_visible()
    device.connect(True)
    expect(one.locator(SENT)).to_contain_text(WORDS["sent_late"])
    assert len(device.got) == 1
    assert device.local() == {}, "a late acknowledgement writes nothing, even there"


def test_who_takes_a_report_back_takes_their_own(shared):
    device = shared()
    first = waiting_tab(device)
    (a,) = device.pending()
    second = device.tab()
    press(second, "answered_other")
    b = look(second, "no")
    press(second, "send")
    expect(second.locator(WAITING)).to_be_visible()
    assert device.pending() == [a, b]
    second.close()
    press(first, "stop")
    expect(first.locator(NOTHING)).to_contain_text(WORDS["others_wait"])
    assert device.pending() == [b]
    device.connect(True)
    expect(device.tab().locator(SENT)).to_be_visible()
    assert device.got == [b]


class Tab:
    """One tab as it should be: its step, whose report it sends, and what it has seen of the storage."""

    def __init__(self, page):
        self.page, self.step, self.mine, self.before, self.shown = page, None, [], 0, None
        self.forgettable = False


class History:
    """Random actions of people in two tabs, and what the storage and the collector must hold after each."""

    def __init__(self, device, dice):
        self.device, self.dice = device, dice
        self.tabs = [None, None]
        self.done, self.pending, self.kept, self.accepted = 0, [], False, set()

    @property
    def count(self):
        return self.done + len(self.pending)

    def run(self, actions):
        for _ in range(actions):
            self.act()
        if not self.device.up:
            self.toggle()
        self.settle()
        for place in (0, 1):
            self.close(place)
        self.open(0)
        self.settle()
        everything = self.device.tab().evaluate(KEPT)
        assert everything["session"] == everything["copies"] == {}
        assert everything["databases"] == []

    def act(self):
        place = self.dice.randrange(2)
        tab = self.tabs[place]
        if self.dice.random() < 0.2:
            self.toggle()
        elif tab is None:
            self.open(place)
        else:
            getattr(self, self.dice.choice(self.possible(tab)))(place)
        self.settle()

    def possible(self, tab):
        found = {
            "consent": ["answer"] * 4 + ["nothing"],
            "preview": ["send"] * 4 + ["nothing"],
            "waiting": ["stop", "other", "forget"],
            "answered": ["other", "other", "other"],
            "nothing": ["again"],
        }.get(tab.step, [])
        more = ["forget"] if tab.forgettable and tab.step not in ("preview", "waiting") else []
        return [*found, *more, "reload", "hide", "close"]

    def settle(self):
        for tab in filter(None, self.tabs):
            steps = {tab.step} if isinstance(tab.step, str) else tab.step
            expect(
                tab.page.locator(",".join(f"#survey[data-step={step}]" for step in sorted(steps)))
            ).to_be_visible()
            tab.step = tab.page.locator("#survey").get_attribute("data-step")
        expected = json.dumps({"done": self.done, "pending": self.pending}, separators=(",", ":"))
        assert self.device.local() == ({self.device.name: expected} if self.kept else {})
        assert set(self.device.got) == self.accepted

    def become(self, tab, step):
        tab.step, tab.forgettable = step, self.kept

    # What people do.

    def open(self, place):
        self.tabs[place] = Tab(self.device.tab())
        self.arrive(self.tabs[place])

    def reload(self, place):
        self.tabs[place].page.reload()
        self.arrive(self.tabs[place])

    def hide(self, place):
        page = self.tabs[place].page
        leave_for_cache(page)
        assert page.inner_html("#survey") == ""
        come_back(page)
        self.arrive(self.tabs[place])

    def close(self, place):
        if self.tabs[place]:
            self.tabs[place].page.close()
        self.tabs[place] = None

    def toggle(self):
        self.device.connect(not self.device.up)
        waiting = [tab for tab in filter(None, self.tabs) if tab.step == "waiting"]
        if self.device.up and waiting:
            self.deliver()
            for tab in waiting:
                self.become(tab, "sent" if len(waiting) == 1 else {"sent", "elsewhere"})

    def answer(self, place):
        tab = self.tabs[place]
        tab.shown = look(tab.page, self.dice.choice(["yes", "no"]))
        self.become(tab, "preview")

    def send(self, place):
        tab = self.tabs[place]
        press(tab.page, "send")
        if tab.before != self.count:
            self.arrive(tab)
            return
        self.pending.append(tab.shown)
        self.kept = True
        self.sends(tab, [tab.shown])

    def nothing(self, place):
        press(self.tabs[place].page, "nothing")
        self.become(self.tabs[place], "nothing")

    def again(self, place):
        press(self.tabs[place].page, "again")
        self.arrive(self.tabs[place])

    def other(self, place):
        tab = self.tabs[place]
        press(tab.page, "answered_other")
        self.consent(tab)

    def stop(self, place):
        tab = self.tabs[place]
        press(tab.page, "stop")
        left = [each for each in self.pending if each not in tab.mine]
        assert left != self.pending
        self.done += len(self.pending) - len(left)
        self.pending = left
        self.become(tab, "nothing")
        self.others_of(tab)

    def forget(self, place):
        tab = self.tabs[place]
        press(tab.page, "forget")
        self.done, self.pending, self.kept = 0, [], False
        self.become(tab, "forgotten")
        self.others_of(tab)

    # What follows.

    def arrive(self, tab):
        if self.pending:
            self.sends(tab, list(self.pending))
        elif self.done:
            self.become(tab, "answered")
        else:
            self.consent(tab)

    def consent(self, tab):
        tab.before = self.count
        self.become(tab, "consent")

    def sends(self, tab, mine):
        tab.mine = mine
        if self.device.up:
            self.deliver()
        self.become(tab, "sent" if self.device.up else "waiting")

    def deliver(self):
        self.accepted.update(self.pending)
        self.done += len(self.pending)
        self.pending = []

    def others_of(self, one):
        for tab in filter(None, self.tabs):
            if tab is not one and tab.step == "waiting" and not set(tab.mine) & set(self.pending):
                self.become(tab, "elsewhere")


def leave_for_cache(page):
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")


def come_back(page):
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_people_do_in_two_tabs_the_collector_gets_what_was_sent_and_not_taken_back(
    shared, seed
):
    History(shared(), random.Random(seed)).run(ACTIONS)

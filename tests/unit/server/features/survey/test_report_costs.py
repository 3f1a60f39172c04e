"""Whatever bytes are sent to the route of surveys, reading them takes processor time in proportion to what is charged."""

import json
import re
import time

import pytest

from discreet.errors import InvalidInput
from discreet.server.features.survey import collector
from discreet.server.features.survey import collector as reading
from discreet.server.features.survey.collector import CBOR, JSON, MANY, ONE, PIECE, cost_of_bytes
from discreet.survey.device import encoded
from discreet.survey.donation_checks import MOST
from discreet.survey.store import SurveyStore
from patience import slowness

MB = 1 << 20
SECONDS_A_MB = 0.2
"""Processor seconds that a megabyte may take, whatever is in it."""
SECONDS_A_REPORT = 60e-6
"""Processor seconds that each report which is charged may take beside that: it is read one by one."""
TOML = """title = "t"
epsilon = 8
[questions.a]
kind = "yes-no"
[questions.b]
kind = "choice"
options = ["x", "y", "z"]
[questions.c]
kind = "open"
rows = 16
buckets = 16384
"""
PATTERNS = (
    *(bytes([byte]) for byte in range(256)),
    *(b"[]", b"{}", b"[}", b"][", b"}{", b"[[]]", b"[[[]]]", b"{[]}", b"[],", b"{},", b"{[]},", b"[{[]}]"),
    *(b'""', b'"",', b'"a"', b'"a",', b'"a":', b'"a":1,', b'"\\', b"\\\\", b'\\"', b"\\u0041", b"\\ud800", b"\\u"),
    *(b"1,", b"-1,", b"12", b"-", b"--", b"1-", b"1e9", b"1e9,", b"1e", b"e1", b"1.", b"0.1,", b"1e-9,", b"E+"),
    *(b"9" * 500 + b",", b"0." + b"1" * 400 + b"e-" + b"9" * 100 + b","),
    *(b"9" * 4000 + b",", b"9" * 21 + b",", b"1e" + b"9" * 400 + b",", b"0." + b"1" * 4000 + b","),
    *(b"null,", b"true,", b"NaN,", b"-Infinity,", b" ,", b"\r\n", b"\t ", b"\x00[", b"[\x00", b"\xef\xbb\xbf"),
    *(b"\xc3", b"\xc3\xa9", b"\xe2\x82", b"\xe2\x82\xac", b"\xed\xa0\x80", b"\xf0\x9f", b"\xf0\x9f\x98\x80"),
    b'{"version":1,"survey":"a","id":"b","reports":[]},',
    b'{"version":1,"survey":"","id":"","reports":[' + b'"",' * 2000 + b'""]},',
    *(b"\x41\x00", b"\x40", b"\x43\x84\x01\x40", b"\x81\x80", b"\x9f\xff", b"\x84\x01\x50", b"\x18\x18", b"\x99\xff"),
    b"\x59\x08\x00\x84\x01\x40\x40\x99\x07\xf8" + b"\x00" * 2040,  # many numbers in one report
    b"\x59\x08\x00\x84\x02\x40\x40\x99\x07\xf8" + b"\x80" * 2040,  # the same of another version, of arrays
    b"\x59\x08\x00" + b"\x84" * 2048,
)  # fmt: skip
WRAPPED = {
    JSON: ((b"", b""), (b"[", b"]"), (b'["', b'"]'), (b"[", b"1]"), (b'[{"reports":[', b"1]}]")),
    CBOR: ((b"", b""), (b"\x99\xff\xff", b""), (b"\x81\x5a\x00\x0f\xff\x00", b"")),
}


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(TOML)
    return SurveyStore.create(path, tmp_path)


def filled(start, pattern, end, size):
    times = (size - len(start) - len(end)) // len(pattern)
    return start + pattern * times + end


def bodies(route, kind, size):
    for start, end in WRAPPED[kind]:
        for pattern in PATTERNS if route is MANY else PATTERNS[256:]:
            yield filled(start, pattern, end, min(size, route.most))
    if kind == JSON and route is MANY:  # the longest lists that are not refused by their signs
        for member in (b"{}", b"[]", b"1", b'""', b"1e9", b"9" * 21, b"null"):
            yield b"[" + (member + b",") * (MOST - 1) + member + b"]"


def work(store, route, kind, body):
    """Do what the route does with a body; return the processor seconds it takes, and how many reports are charged."""
    start = time.thread_time()
    charged = route.cost(kind, body)
    if (
        charged > MOST
    ):  # it is refused unread, for the price of its bytes; here it is read all the same
        charged = cost_of_bytes(body)
    try:
        donations = route.split(store, kind, body)
        charged = max(charged, len(donations))  # these are charged before any is looked at
        store.take_cbor(donations) if kind == CBOR else store.take_json(donations)
    except InvalidInput:
        pass
    return time.thread_time() - start, charged


def least_work(store, kind, body):
    """Return the least of several: whatever else the processor does only adds to what a body takes."""
    return min(work(store, MANY, kind, body)[0] for _ in range(3))


def is_slow(store, route, kind, body, slower):
    seconds, charged = work(store, route, kind, body)
    allowed = SECONDS_A_MB * len(body) / MB + SECONDS_A_REPORT * charged + 0.005
    return seconds > slower * allowed


def too_long(store, route, kind, tried):
    """Return the beginnings of bodies that take more than is allowed, each of nine times.

    The last six are beside yardsticks of their own: the processor may have become slower meanwhile.
    """
    slower = slowness()
    return [
        body[:40]
        for body in tried
        if all(is_slow(store, route, kind, body, slower) for _ in range(3))
        and all(is_slow(store, route, kind, body, slowness()) for _ in range(6))
    ]


@pytest.mark.parametrize("kind", [JSON, CBOR])
@pytest.mark.parametrize(("route", "size"), [(ONE, MB), (MANY, MB // 4)], ids=["one", "many"])
def test_no_body_takes_more_than_it_is_charged(store, route, size, kind):
    assert too_long(store, route, kind, bodies(route, kind, size)) == []


@pytest.mark.parametrize("pattern", [b"]", b"}", b"9" * 4000 + b",", b"\\u0041", b"1,", b" "])
def test_the_largest_body_takes_so_many_times_longer_and_no_more(store, pattern):
    body = filled(b"[", pattern, b"1]", MANY.most)
    assert too_long(store, MANY, JSON, [body]) == []


def bracket_by_bracket(body, *, answers):
    depth = 0
    for bracket in re.finditer(rb"[\[\]{}]", body):
        depth += 1 if bracket.group() in b"[{" else -1
        if depth > 3:
            break
    raise InvalidInput(f"not a list of reports for {answers} answers")


def test_a_loop_over_brackets_is_found(store, monkeypatch):
    """The twin: how batches were read before."""
    monkeypatch.setattr(collector, "batch_of", bracket_by_bracket)
    assert too_long(store, MANY, JSON, [b"]" * (MB // 4)])


def test_numbers_without_a_limit_are_found(store, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_NUMBER", 10_000)
    body = filled(b"[", b"9" * 4000 + b",", b"1]", 16 * MB - 100)
    seconds = least_work(store, JSON, body)
    monkeypatch.undo()
    assert least_work(store, JSON, body) * 3 < seconds


def test_reports_without_a_limit_are_found(store, monkeypatch):
    monkeypatch.setattr(type(store.check), "most", None)
    member = encoded([2, b"", b"", [0] * 2000])  # another version: it is read twice
    body = encoded([member] * 500)
    seconds = least_work(store, CBOR, body)
    monkeypatch.undo()
    assert least_work(store, CBOR, body) * 3 < seconds


def test_what_a_body_costs_is_known_before_it_is_parsed():
    assert MANY.cost(JSON, b"{" * 7) == 7
    assert MANY.cost(JSON, b"]" * PIECE * 9) == 9
    assert MANY.cost(CBOR, encoded([b"a"] * 300)) == 300
    assert MANY.cost(CBOR, b"\x9a\xff\xff\xff\xff") > MOST, "it is refused unread"
    assert MANY.cost(CBOR, b"") == MANY.cost(JSON, b"") == ONE.cost(JSON, b"{{{") == 1
    assert ONE.cost(JSON, b" " * 16 * PIECE) == 16


def test_a_number_that_is_too_long_spoils_no_other_report(store):
    good = {"version": 1, "survey": store.plan.id.hex(), "id": "00" * 16, "reports": [1, 0, None]}
    bad = [good | {"reports": [number, 0, None]} for number in (1.5, 1e300, 10**400)]
    bad += [good | {"version": 1.0}, good | {"reports": [1] * 1000}]
    found = store.take_json(MANY.split(store, JSON, json.dumps([good, *bad]).encode()))
    assert found.accepted == 1

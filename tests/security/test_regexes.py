"""No regular expression of the server takes more than linear time, whatever is sent.

Texts are made from each expression itself: the way to a repetition, what it repeats many times, and a bad
end. Twice the length must not take three times the work. The expressions as they once were are the broken
twins. (A linear one is never called quadratic by chance: it would have to be measured slow three times in
a row, at sizes where it takes less time than is measured at all.)
"""

import re

import pytest

from discreet.errors import QueryRefused
from discreet.server.pgwire import statements
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.results import read_copy
from discreet.server.pgwire.statements import MAX_STATEMENTS, split
from regex_kit import attacks, patterns_of, superlinear

OWN_TEXTS = {"discreet.server.features.docs.pages: _NOTE"}
"""Looked for in the files of the documentation only, which nobody sends."""
ALL = {
    where: found
    for where, found in patterns_of("discreet.server").items()
    if where not in OWN_TEXTS
}
NAME = r'(?P<name>"(?:[^"]|"")+"|[^\W\d][\w$]*)'
ONCE = {
    "array": r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}]*))\s*(?:,|$)',
    "set": r"SET\s+(?:(?P<scope>SESSION|LOCAL)\s+)?(?P<name>[\w.]+|\"[^\"]+\")\s*(?:=|\s+TO\s+|\bTO\b)\s*(?P<value>.+)",
    "copy": r"COPY\s+(?:BINARY\s+)?(?P<name>[\w$.\"]+)\s*(?P<columns>\([^)]*\))?\s*(?=TO\b|FROM\b)",
    "fetch": r"(?:FETCH|MOVE)(?:\s+(?P<way>NEXT|PRIOR|FIRST|LAST|ABSOLUTE|RELATIVE|FORWARD|BACKWARD))?"
    rf"(?:\s+(?P<count>[+-]?\s*\d{{1,18}}|ALL))?(?:\s+(?:FROM|IN))?\s+{NAME}",
}


def slow(pattern, ways):
    for before, pumped, end in attacks(pattern):
        for way in ways:

            def text(length, b=before, p=pumped, e=end):
                whole = b + p * (length // len(p)) + e
                return whole.encode() if isinstance(pattern.pattern, bytes) else whole

            if superlinear(getattr(pattern, way), text):
                return way, before, pumped, end
    return None


def test_there_are_expressions_to_look_at():
    assert len(ALL) > 30
    assert any("_FETCH" in where for where in ALL)
    assert any("WITH" in where for where in ALL), "those written in a call as well"


@pytest.mark.parametrize("where", ALL)
def test_no_expression_is_slow(where):
    assert slow(*ALL[where]) is None


@pytest.mark.parametrize("name", ONCE)
def test_the_expressions_as_they_were_are_found_slow(name):
    assert slow(re.compile(ONCE[name], re.IGNORECASE), ("match", "fullmatch")) is not None


def test_the_length_is_looked_at_before_anything_is_split(monkeypatch):
    monkeypatch.setattr(statements, "_Splitter", None)
    with pytest.raises(QueryRefused, match="too long"):
        split(";" * 1_000_000)
    with pytest.raises(TypeError):
        split(";" * statements.LONGEST)


def test_empty_statements_count():
    counted = statements._Splitter(";" * statements.LONGEST)
    with pytest.raises(QueryRefused, match="many statements"):
        counted.run()
    assert counted.at <= MAX_STATEMENTS + 2, "no more than is allowed was looked at"
    assert len(split("SELECT 1;" * MAX_STATEMENTS)) == MAX_STATEMENTS
    assert split(";;;") == []


def test_options_of_a_copy_have_an_end():
    [copy] = split("COPY (SELECT 1) TO STDOUT " + "CSV," * 20_000)
    with pytest.raises(Failure, match="options"):
        read_copy(copy)

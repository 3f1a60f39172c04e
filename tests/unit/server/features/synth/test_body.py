"""A copy that costs nothing has an end as well."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from discreet.errors import InvalidInput
from discreet.server.access.tokens import AskedAs
from discreet.server.features.synth import pages
from discreet.server.features.synth.pages import MOST_FREE_ROWS, SynthBody, prepared_for
from discreet.server.jobs.long import PaidAsk


def prepared(monkeypatch, *, free, analyst, rows):
    @contextmanager
    def planned(*_given, **_named):
        yield SimpleNamespace(free=free), None

    monkeypatch.setattr(pages, "prepared", planned)
    asked = SynthBody(table="t", method="random", epsilon="1", rows=rows)
    curator = SimpleNamespace(account_of=lambda who: who)
    return prepared_for(curator, asked, PaidAsk(AskedAs(analyst, "x"), "id"))


def test_an_analyst_has_so_many_rows_for_nothing(monkeypatch):
    with pytest.raises(InvalidInput, match="costs nothing"):
        prepared(monkeypatch, free=True, analyst="alice", rows=MOST_FREE_ROWS + 1)
    for free, analyst, rows in [
        (True, "alice", MOST_FREE_ROWS),
        (False, "alice", MOST_FREE_ROWS + 1),
        (True, None, MOST_FREE_ROWS + 1),
    ]:
        assert prepared(monkeypatch, free=free, analyst=analyst, rows=rows).free is free

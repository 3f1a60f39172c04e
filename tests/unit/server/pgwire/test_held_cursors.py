"""What a session's cursors hold has an end, looked at before the next one is paid for."""

from types import SimpleNamespace

import pytest

from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.results import StatementResult
from discreet.server.pgwire.session import MOST_CELLS, Cursors, Portal


def test_full_cursors_keep_the_next_one_away():
    columns = ("a", "b")
    portals = {}
    cursors = Cursors(portals, SimpleNamespace(status="T"), None)
    rows = range(MOST_CELLS // 4)
    for name in ("one", "two"):
        cursors._refuse(name, hold=False)
        portals[name] = Portal(None, (), (), StatementResult("SELECT", columns, rows))
    cursors._refuse("three", hold=False)
    portals["three"] = Portal(None, (), (), StatementResult("SELECT", columns, [(1, 2)]))
    with pytest.raises(Failure, match="Too many cursors"):
        cursors._refuse("four", hold=False)
    del portals["one"]
    cursors._refuse("four", hold=False)

"""Servers as processes of their own, each of which stops at one place until it is killed.

Run as python killable.py CONFIG PORT TOKEN GATE WORDS it is one. Without words it does its imports and forks one for
every line [CONFIG, PORT, TOKEN, GATE, WORDS]; it prints the server's number, and "ended" when that was killed. A server
prints the owner's token and "reached" as lines. With the gate "child" it is the child of a long job that stops, where
CHILD_HELD says (child_held.py).
"""

import json
import os
import sys
import threading
from pathlib import Path

import uvicorn

from discreet.ask.release import outcome
from discreet.data.engines.fork_server import _threads
from discreet.privacy.ledger.ledger import Ledger
from discreet.server.access.tokens import Role
from discreet.server.feature import features
from discreet.server.jobs.long import _PlannedFirst
from discreet.server.settings import Settings
from discreet.server.start import create_app
from lent import for_a_fork, lend

FOREVER = threading.Event()


def stop_here():
    print("reached", flush=True)
    FOREVER.wait()


def gate(where, words):
    """Stop before the charge, while the data is read, or after the answer was stored.

    Only for a question that contains `words`: what an earlier server left undone passes.
    """
    charge, computed, kept, asked = Ledger.charge_all, outcome._computed, outcome._kept, {}

    def charged(ledger, payer, bills, **named):
        asked.update({bill.request_id: bill.note for bill in bills})
        if where == "charge" and any(words in bill.note for bill in bills):
            stop_here()
        return charge(ledger, payer, bills, **named)

    def is_meant(receipt):
        return words in asked.get(receipt.request_id, "")

    def looked(ledger, receipt, compute):
        begun = where == "reading" and is_meant(receipt)
        return computed(ledger, receipt, (lambda: stop_here() or compute()) if begun else compute)

    def stored(ledger, receipt, answer):
        found = kept(ledger, receipt, answer)
        if where == "stored" and is_meant(receipt):
            stop_here()
        return found

    Ledger.charge_all, outcome._computed, outcome._kept = charged, looked, stored


def serve(config, port, token, where, words):
    if where == "planning":
        _PlannedFirst.query = lambda *_, **__: stop_here()
    elif where and where != "child":
        gate(where, words)
    settings = {"port": int(port), "rate": 10_000, "burst": 10_000, "spare_child": False}
    app = create_app(Settings(config=Path(config), **settings))
    if where == "child":
        app.state.context.children.module = "child_held"
    if token == "new":
        print(app.state.context.tokens.new(Role.OWNER).text, flush=True)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error")


def main():
    if sys.argv[1:]:
        serve(*sys.argv[1:])
        return
    features()
    lend(planner=True)  # the templates, started once for all servers
    assert _threads() == 1, "what has threads must not fork"
    for line in sys.stdin:
        ask_it = for_a_fork()
        pid = os.fork()
        if pid == 0:
            ask_it()
            serve(*json.loads(line))
            os._exit(0)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main()

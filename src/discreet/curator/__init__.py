"""The curator: queries, releases, copies and models under one ledger; and how one is opened.

Imported by: cli, discreet, lab, server, tasks.
"""

from discreet.ask.sql.spelling import priced
from discreet.curator.curator import (
    Curator,
    ParsedStatement,
    Planner,
    SeenLedger,
    add_analysts,
    child_curator,
    curator_of,
    open,  # noqa: A004  # discreet.open is the contract
    parsed,
    promise,
    question_of,
    restore_ledger,
    with_promise,
)
from discreet.curator.opened_catalog import policy_of
from discreet.curator.reporting import renew_budget, renewal_of, renewed_report

__all__ = [
    "Curator",
    "ParsedStatement",
    "Planner",
    "SeenLedger",
    "add_analysts",
    "child_curator",
    "curator_of",
    "open",
    "parsed",
    "policy_of",
    "priced",
    "promise",
    "question_of",
    "renew_budget",
    "renewal_of",
    "renewed_report",
    "restore_ledger",
    "with_promise",
]

"""`discreet.learn(FILE, target=...)`: a classifier trained on a file or a table."""

from __future__ import annotations

from pathlib import Path

from discreet.core.requests.asks import asks_function
from discreet.core.requests.learn import LocalLearnFields
from discreet.core.requests.request_fields import beside, given
from discreet.core.requests.schema import WithProgress, schema
from discreet.learn.learners.registry import choices
from discreet.learn.training import Trained
from discreet.tasks.bare_file.bare_place import WrittenSource
from discreet.tasks.learning.classify import classify


@schema
class LearnFileCall(WithProgress, LocalLearnFields):
    """A training on what `source` means, and how a bare file is declared for it."""

    source: str | Path = beside("A file, or a declared table.", kw_only=False)
    table: str = beside("What `source` turns out to be.", default="", init=False)
    config: str | Path | None = beside("The discreet.toml, if not beside the file.", default=None)
    unit: str = beside("Whom a bare file protects: 'row', or a column.", default="row")
    accept: bool = beside("Declare what a bare file's rows hold public.", default=False)


@asks_function(LearnFileCall, choices())
def learn(asked: LearnFileCall) -> Trained:
    """Return a classifier of `target` trained on a file or a declared table, charged before any row is read.

    A bare file is declared first, in the discreet.toml of `config` or beside the file; of a text file
    the types are paid for, too. `unit` says whom it protects, `accept` declares what its rows hold
    public. The rest goes to `Curator.learn`.

    >>> discreet.learn("people.csv", target="income", epsilon=1)            # doctest: +SKIP
    classifier   boosted for income, accuracy 0.843
    uses         epsilon 1; leaves 0 of 1
    """
    config = None if asked.config is None else Path(asked.config)
    source = WrittenSource(str(asked.source), config, asked.unit, asked.accept)
    return classify(source, given(asked), progress=asked.progress)

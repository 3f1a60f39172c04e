"""Notebooks: text and questions with their answers, in an order; their shelf, and what a reader sees of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.api import Curator
from discreet.core.answers.answer import Answer
from discreet.server.access.auth import Principal
from discreet.server.plain_json import answer_json
from discreet.server.shelf import Kept, Shelf

CLOSED = "A question about data that is not open to you."
GONE = "Its answer is not kept any more."


@dataclass(frozen=True, slots=True)
class Notebook(Kept):
    """`analyst` is whose it is, None for the owner's; `cells` are plain objects, checked on the way in.

    A cell is text, or a question with the request id of its answer. Answers stay in the ledger: a
    notebook only names them, and whoever may not see a data set sees nothing of its cells.
    """

    id: str
    title: str
    analyst: str | None
    shared: bool
    created: float
    cells: tuple[dict[str, Any], ...] = ()


class Notebooks(Shelf[Notebook]):
    """The notebooks of this server."""

    kind, folder, listed_by = Notebook, "notebooks", "/api/v1/notebooks"
    one, many = "notebook", "notebooks"

    def write(self, notebook: Notebook) -> Notebook:
        """Return the notebook, kept as it is now."""
        return self.keep(notebook, lambda _place: None)


@dataclass(frozen=True, slots=True)
class ReadCell:
    """A cell as this reader may see it; `answer` None where there is none for them."""

    cell: Mapping[str, Any]
    answer: Answer | None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        found = None if self.answer is None else answer_json(self.answer)
        return dict(self.cell) | {"found": found, "problem": self.problem}


def read_cells(curator: Curator, who: Principal, notebook: Notebook) -> list[ReadCell]:
    """Return the cells in their order, each with its stored answer; nothing is paid.

    Guarantee: of a data set in which an analyst has no share, neither answer nor question is shown.
    """
    return [_read(curator, who, notebook, cell) for cell in notebook.cells]


def _read(
    curator: Curator, who: Principal, notebook: Notebook, cell: Mapping[str, Any]
) -> ReadCell:
    if cell["kind"] == "text":
        return ReadCell(cell, None)
    payer = curator.account_of(cell["analyst"] or notebook.analyst)
    answer = curator.stored_answer(cell["answer"], analyst=payer) if cell["answer"] else None
    if answer is None:
        mine = notebook.analyst == who.analyst
        return ReadCell(cell, None, GONE) if mine else _closed(cell, GONE)
    if answer.provenance.dataset not in curator.visible(who.analyst):
        return _closed(cell, CLOSED)
    return ReadCell(cell, answer)


def _closed(cell: Mapping[str, Any], why: str) -> ReadCell:
    return ReadCell(dict(cell) | {"sql": "", "answer": "", "text": ""}, None, why)

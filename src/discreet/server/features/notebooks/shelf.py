"""A notebook: text and questions with their answers, in an order; and the shelf of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.server.shelf import Kept, Shelf, ShelfRules

RULES = ShelfRules("notebooks", "notebook", "notebooks", "/api/v1/notebooks", files={})


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

    kind, rules = Notebook, RULES

    def write(self, notebook: Notebook) -> Notebook:
        """Return the notebook, kept as it is now."""
        return self.keep(notebook, lambda _place: None)

"""Change discreet.toml while the server runs: in force at once, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.change_file import change_file
from discreet.catalog.declare.compose import composed, engine_and_ledger
from discreet.catalog.read.policy_file import loads
from discreet.server.workspace import Workspace


def change(workspace: Workspace, edit: Callable[[str, Catalog], str]) -> Catalog:
    """Return the catalog after `edit` has changed the text of discreet.toml.

    The new text must read as a catalog, and the curator must start with it. Limits that changed
    become entries of the ledger when it does.

    Guarantee: as `change_file`: a file that the curator cannot start with is put back as it was.
    """
    config = workspace.config
    config.parent.mkdir(parents=True, exist_ok=True)

    def edited(text: str) -> str:
        return edit(text, loads(text, base=config.parent, name=config.name))

    return change_file(config, edited, start=composed(engine_and_ledger()), then=workspace.reload)

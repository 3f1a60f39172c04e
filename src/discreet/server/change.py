"""Change discreet.toml while the server runs: in force at once, or not at all."""

from __future__ import annotations

from discreet.catalog.declare.change_file import CatalogChange, Edit, change_catalog
from discreet.catalog.declare.compose import composed, engine_and_ledger
from discreet.server.workspace import Workspace


def change(workspace: Workspace, edit: Edit) -> CatalogChange:
    """Return the catalogs before and after `edit` has changed the text of discreet.toml.

    The new text must read as a catalog, and the curator must start with it. Limits that changed
    become entries of the ledger when it does.

    Guarantee: as `change_file`: a file that the curator cannot start with is put back as it was.
    """
    config = workspace.config
    config.parent.mkdir(parents=True, exist_ok=True)
    start = composed(engine_and_ledger())
    return change_catalog(config, edit, start=start, then=workspace.reload)

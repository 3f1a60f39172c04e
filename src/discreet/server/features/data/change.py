"""Change discreet.toml while the server runs: in force at once, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.analysts import writing
from discreet.catalog.read.policy_file import loads
from discreet.catalog.write import write_over
from discreet.errors import CatalogError
from discreet.server.workspace import Workspace

NEW_FILE = '[engine]\nurl = "duckdb:"\n\n[ledger]\nurl = "sqlite:ledger.db"\n'
"""What a first upload finds where there is no discreet.toml yet."""


def change(workspace: Workspace, edit: Callable[[str, Catalog], str]) -> Catalog:
    """Return the catalog after `edit` has changed the text of discreet.toml.

    The new text must read as a catalog, and the curator must start with it. Limits that changed
    become entries of the ledger when it does.

    Guarantee: other writers wait; a crash leaves the old file or the new one; a file that the
    curator cannot start with is put back as it was.
    """
    config = workspace.config
    config.parent.mkdir(parents=True, exist_ok=True)
    with writing(config):
        before = _text(workspace)
        old = NEW_FILE if before is None else before
        new = edit(old, loads(old, base=config.parent, name=config.name))
        catalog = loads(new, base=config.parent, name=config.name)
        write_over(config, new)
        try:
            workspace.reload()
        except BaseException:
            if before is None:
                config.unlink()
            else:
                write_over(config, before)
            raise
    return catalog


def _text(workspace: Workspace) -> str | None:
    """Return the file as it is; None where there is none."""
    try:
        return workspace.config.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise CatalogError("discreet.toml cannot be read as UTF-8 text.") from None

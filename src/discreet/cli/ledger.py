"""`discreet ledger verify|backup|restore|clear`: the history, checked, copied and brought back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from discreet.base.display import visible
from discreet.cli.command import Config, Json, command_group
from discreet.cli.terminal import tell

app = command_group(help="Check, copy and restore the ledger.")


@app.command()
def verify(*, as_json: Json = False, config: Config = None) -> None:
    """Check every entry, every stored answer and the head; and the audit log of the server.

    Example: discreet ledger verify
    """
    from discreet.curator import open as open_curator
    from discreet.server.access.audit_log import AuditLog
    from discreet.server.settings import STATE

    with open_curator(config) as curator:
        entries, unsealed = curator.ledger.examine()
        lines = AuditLog(curator.catalog.base / STATE).verify()
    words = f"{entries} entries, all intact."
    if lines:
        words += f" {lines} lines of the audit log, all intact."
    data: dict[str, object] = {"entries": entries, "intact": True, "audit": lines}
    if unsealed:
        words += (
            f" {unsealed} stored answers were written by 0.1.0 and are outside the seal: that their "
            "charges were paid is certain, their content is not."
        )
        data["unsealed_answers"] = unsealed
    tell(data, words, json=as_json)


@app.command()
def backup(
    path: Annotated[Path, typer.Argument(help="The new file to write.")],
    *,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Copy the whole ledger into one new file.

    Example: discreet ledger backup ledger-monday.db
    """
    from discreet.curator import open as open_curator

    with open_curator(config) as curator:
        entries = curator.ledger.backup(path)
    tell({"entries": entries, "out": str(path)}, f"{entries} entries in {path}.", json=as_json)


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(help="The backup.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; it becomes part of the history.")],
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Replace the ledger by a backup; what was spent since the backup stays spent.

    Nobody may be using the ledger: stop the server first. Where its head file is lost, too, how much
    was spent is unknown, and every budget counts as spent.

    Example: discreet ledger restore ledger-monday.db --reason "disk failure on Tuesday"
    """
    # The ledger at hand may be beyond opening, so this cannot go through an open curator.
    from discreet.curator import restore_ledger

    with closing(restore_ledger(config, path, reason=reason)) as restored:
        last = [entry for entry in restored.history() if entry.kind == "restore"][-1]
        entries, lost = restored.verify(), last.data["lost"]
    told = _LOST.get(lost, f"{lost} entries were lost; what they spent stays spent.")
    tell({"entries": entries, "lost": lost}, f"Restored. {told}", json=as_json)


@app.command()
def clear(
    request_id: Annotated[
        str | None, typer.Argument(help="The request id whose question may be asked again.")
    ] = None,
    *,
    reason: Annotated[str, typer.Option(help="Why; it becomes part of the history.")] = "",
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Let a question be asked again on which the database failed; without an id, list them.

    A database that runs out of time or memory after a charge may have told something about the
    rows, so that very question stays refused until you clear it.

    Example: discreet ledger clear 4f1c --reason "more memory"
    """
    from discreet.curator import open as open_curator

    with open_curator(config) as curator:
        incidents = curator.ledger.incidents
        if request_id is not None:
            cleared = incidents.clear(request_id, reason=reason)
            tell({"cleared": cleared}, "It may be asked again.", json=as_json)
            return
        refused = [
            {"request_id": i.request_id, "dataset": i.dataset, "analyst": i.analyst, "sql": i.note}
            for i in incidents.open()
        ]
    told = ("request_id", "dataset", "sql")
    lines = ["  ".join(visible(str(incident[name])) for name in told) for incident in refused]
    tell({"refused": refused}, "\n".join(lines) or "Nothing is refused.", json=as_json)


_LOST = {
    0: "Nothing was lost.",
    -1: "How much was lost is unknown, so every budget counts as spent.",
}

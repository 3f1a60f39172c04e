"""Drafting, and rehearsing and releasing as jobs in child processes: only a release is charged, once."""

from __future__ import annotations

from typing import Any

from discreet.publish.run import request_id
from discreet.publish.spec import Spec
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.publish.drafts import Drafts, read_text
from discreet.server.features.publish.standings import Standings
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job

_CHILD = "discreet.server.features.publish.in_child"


def name_of(who: Principal) -> str:
    """Return the caller as the ledger names who drafted or approved: each token is a person."""
    return f"{who.analyst or who.role.value} ({who.token_id[:8]})"


def draft(context: Context, drafts: Drafts, who: Principal, text: str) -> dict[str, Any]:
    """Return where a release stands after its draft was planned and written down."""
    state = context.settings.state_folder
    with context.workspace.curator() as curator:
        spec = read_text(text, curator.catalog.base, state=state)
        found = curator.draft_release(spec, who=name_of(who))
        drafts.keep(spec)
    return found


def rehearse(context: Context, who: Principal, text: str) -> Job:
    """Return the job that rehearses a release on made-up rows: free, reads no private row."""
    return submit_long(context, who, LongTask(f"{_CHILD}:rehearse", _asked(context, who, text)))


def release(context: Context, standings: Standings, who: Principal, spec: Spec) -> Job:
    """Return the job that releases a draft: charged once, then the same package for ever."""
    asked = _asked(context, who, spec.text)
    task = LongTask(f"{_CHILD}:release", asked, charge=request_id(spec))
    job = submit_long(context, who, task)
    job.future.add_done_callback(lambda _: standings.forget())
    return job


def _asked(context: Context, who: Principal, text: str) -> dict[str, Any]:
    return {"state": context.settings.state_folder, "text": text, "who": name_of(who)}

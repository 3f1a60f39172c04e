"""Rehearsing and releasing as jobs: only a release is charged, and only once."""

from __future__ import annotations

from typing import Any

from discreet.publish.spec import Spec
from discreet.report import to_fragment
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.publish.drafts import Drafts, read_text
from discreet.server.features.publish.standings import Standings
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import finite


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


def rehearse(context: Context, drafts: Drafts, who: Principal, text: str) -> Job:
    """Return the job that rehearses a release on made-up rows: free, reads no private row."""

    def work(job: Job) -> dict[str, Any]:
        state = context.settings.state_folder
        with context.workspace.curator() as curator:
            spec = read_text(text, curator.catalog.base, state=state)
            job.advance(0, 2, "planning and making up rows")
            found = curator.rehearse_release(spec, who=name_of(who))
            drafts.keep(spec)
            job.advance(1, 2, "drawing pictures")
            drafts.keep_pictures(spec.name, to_fragment(found.document()))
        answer: dict[str, Any] = finite(found.to_json())
        return answer

    return context.runner.submit(who.key, work, keep=True)


def release(context: Context, standings: Standings, who: Principal, spec: Spec) -> Job:
    """Return the job that releases a draft: charged once, then the same package for ever."""

    def work(job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                found = curator.publish(spec, who=name_of(who), progress=job.advance)
            finally:
                job.stop = None
                standings.forget()
        answer: dict[str, Any] = finite(found.to_json())
        return answer

    return context.runner.submit(who.key, work, keep=True)

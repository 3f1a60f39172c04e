"""What the child process of a release does: rehearse it on made-up rows, or charge, measure and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.report import to_fragment
from discreet.server.features.publish.drafts import Drafts, read_text
from discreet.server.jobs.child import TaskContext
from discreet.server.plain_json import finite


def rehearse(context: TaskContext, *, state: Path, text: str, who: str) -> dict[str, Any]:
    """Return what a release would look like on made-up rows: free, reads no private row."""
    curator, drafts = context.curator(), Drafts(state)
    spec = read_text(text, curator.catalog.base, state=state)
    context.advance(0, 2, "planning and making up rows")
    found = curator.rehearse_release(spec, who=who)
    drafts.keep(spec)
    context.advance(1, 2, "drawing pictures")
    drafts.keep_pictures(spec.name, to_fragment(found.document()))
    return finite(found.to_json())


def release(context: TaskContext, *, state: Path, text: str, who: str) -> dict[str, Any]:
    """Return a release: charged once, then the same package for ever."""
    curator = context.curator()
    spec = read_text(text, curator.catalog.base, state=state)
    return finite(curator.publish(spec, who=who, progress=context.advance).to_json())

"""Measuring and making an anonymized copy, as jobs in child processes."""

from __future__ import annotations

from typing import Any

from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.anonymize.body import AnonymizeBody
from discreet.server.features.anonymize.releases import Releases
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job

_CHILD = "discreet.server.features.anonymize.in_child"


def measure(context: Context, who: Principal, asked: AnonymizeBody) -> Job:
    """Return the job that tries several k; the owner's look at exact counts is recorded first."""
    return submit_long(context, who, LongTask(f"{_CHILD}:measure", _words(asked)))


def make(context: Context, releases: Releases, who: Principal, asked: AnonymizeBody) -> Job:
    """Return the job that makes the copy: run, recorded as an exposure, then kept."""
    releases.room()
    words = _words(asked) | {"state": context.settings.state_folder}
    return submit_long(context, who, LongTask(f"{_CHILD}:make", words))


def _words(asked: AnonymizeBody) -> dict[str, Any]:
    return {"table": asked.table, "where": asked.where, "wish": asked.wish()}

"""`discreet.publish("SPEC.toml")`: many tables as one consistent, signed package."""

from __future__ import annotations

from pathlib import Path

from discreet.base.requests.fields import WithProgress, asks_function, beside, given, schema
from discreet.base.requests.paid import PublishFields
from discreet.curator import open as open_curator
from discreet.work.publish.run import Publication


@schema
class PublishFileCall(WithProgress, PublishFields):
    """A release of one spec, and the catalog that it is of."""

    spec: str | Path = beside("The SPEC.toml that describes the release.", kw_only=False)
    config: str | Path | None = beside("The discreet.toml, if not in this folder.", default=None)


@asks_function(PublishFileCall)
def publish(asked: PublishFileCall) -> Publication:
    """Return a release after writing its signed package, charged before any row is read.

    `config` is the discreet.toml that is meant, or the one in this folder. Drafts, approvals and
    withdrawals are methods of the curator. (docs/publish.md)

    >>> discreet.publish("SPEC.toml", out="RELEASE.zip").tables             # doctest: +SKIP
    {'sexes': 2}
    """
    with open_curator(asked.config) as curator:
        return curator.publish(asked.spec, progress=asked.progress, **given(asked))

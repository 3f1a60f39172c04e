"""The curator's releases: drafted, rehearsed, approved, published, withdrawn; and running totals."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.api.opened import OpenedCatalog
from discreet.core.requests.asks import asks
from discreet.core.requests.publish import PublishFields
from discreet.core.requests.request_fields import beside, given
from discreet.core.requests.schema import WithProgress, schema

if TYPE_CHECKING:
    from discreet.publish.rehearse import Rehearsal
    from discreet.publish.run import Publication
    from discreet.publish.specification import Spec
    from discreet.publish.totals import TotalsRequest, TotalsSoFar


@schema
class PublishCall(WithProgress, PublishFields):
    """A release of one spec, and who is told how far it is."""

    spec: str | Path | Spec = beside("The SPEC.toml that describes the release.", kw_only=False)


class Publishing(OpenedCatalog):
    """Publications of one catalog."""

    @asks(PublishCall)
    def publish(self, asked: PublishCall) -> Publication:
        """Return a release after writing its signed package, charged before any row is read.

        `spec` is the path of a SPEC.toml. The same name, spec and snapshot again give the stored
        package, free. Where the catalog asks for a second person, it must be approved first.
        (docs/publish.md)
        """
        from discreet.publish.specification import spec_of
        from discreet.publish.workflow import release

        words = given(asked)
        out = words.pop("out")
        place = None if out is None else Path(out)
        return release(spec_of(asked.spec), place, self, progress=asked.progress, **words)

    def draft_release(self, spec: str | Path | Spec, *, who: str = "owner") -> dict[str, Any]:
        """Return where a release stands after its draft was written down; nothing is charged.

        `digest` in it is what an approval by a second person names.
        """
        from discreet.publish.specification import spec_of
        from discreet.publish.workflow import draft_release

        found = draft_release(spec_of(spec), self, who=who)
        return found.to_json() | {"digest": found.digest}

    def rehearse_release(self, spec: str | Path | Spec, *, who: str = "owner") -> Rehearsal:
        """Return what a release would look like on made-up rows: costs nothing."""
        from discreet.publish.specification import spec_of
        from discreet.publish.workflow import rehearse_release

        return rehearse_release(spec_of(spec), self, who=who)

    def approve_release(
        self, spec: str | Path | Spec, *, who: str, digest: str | None = None
    ) -> dict[str, Any]:
        """Return where a release stands after `who` approved it.

        `digest` is that of the draft they have read; a second person must say it.
        """
        from discreet.publish.specification import spec_of
        from discreet.publish.workflow import approve_release

        return approve_release(spec_of(spec), self, who=who, digest=digest).to_json()

    def withdraw_release(
        self, spec: str | Path | Spec, *, reason: str, who: str = "owner"
    ) -> dict[str, Any]:
        """Return where a release stands after it was withdrawn; what it cost stays spent."""
        from discreet.publish.specification import spec_of
        from discreet.publish.workflow import withdraw_release

        return withdraw_release(spec_of(spec).name, self, who=who, reason=reason).to_json()

    def releases(self) -> list[dict[str, Any]]:
        """Return every release that was ever drafted and where it stands, latest change last."""
        from discreet.publish.workflow import standings

        return [each.to_json() for each in standings(self.ledger)]

    def release_key(self) -> str:
        """Return the owner's public key, by which anyone can check a package; made on first use."""
        from discreet.publish.package import owner_key

        return owner_key(self.catalog.state_folder).public.hex()

    def running_totals(self, request: TotalsRequest, *, through: dt.date | str) -> TotalsSoFar:
        """Return a series of running totals up to a day that is over.

        The whole horizon is charged when the series is first asked for; later days are free.
        (docs/packages.md)
        """
        from discreet.publish.totals import measure_totals

        return measure_totals(
            request,
            through,
            self,
            state=self.catalog.state_folder,
        )

    def late_rows(self, series: str) -> int | None:
        """Return how many rows had arrived too late for a series of running totals when it was last measured.

        An exact count, for the owner alone: do not publish it. It is net for each day: 3 deleted rows and 7
        late ones of one day are 4. None before the first look, and for a series
        that an earlier version measured last.
        """
        from discreet.publish.totals import FrozenDays, series_name

        return FrozenDays(self.catalog.state_folder, series_name(series)).late()

    def package(self, name: str) -> Path:
        """Return where the signed package of a release is kept; refused where nothing was released by this name."""
        from discreet.publish.run import released_file
        from discreet.publish.workflow import RELEASES

        return self.catalog.state_folder / RELEASES / released_file(self.ledger, name)

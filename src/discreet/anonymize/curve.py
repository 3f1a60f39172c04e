"""What each k costs and leaves: the same table anonymized for several k, nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.risk import ClassSizes, IntruderRisk, risk_of
from discreet.anonymize.run import groups_of, hierarchies_of, models_of, searched, settings_of
from discreet.anonymize.search import anonymize
from discreet.anonymize.source import AnonymizeSource
from discreet.core.display import Progress, silent
from discreet.errors import InvalidInput

KS = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""The k that a slider offers."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One k: what is left of the detail, what is left of the risk. No result if it is impossible."""

    k: int
    loss: float | None = None
    suppressed: int = 0
    classes: int = 0
    levels: dict[str, int] | None = None
    optimal: bool = False
    risk: IntruderRisk | None = None
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"risk": None if self.risk is None else self.risk.to_json()}


def curve(
    source: AnonymizeSource,
    request: AnonymizeRequest,
    *,
    ks: Sequence[int] = KS,
    progress: Progress = silent,
) -> tuple[IntruderRisk, list[CurvePoint]]:
    """Return the risk of the table as it is, and one point for each k; the rows are counted once."""
    progress(0, len(ks) + 1, "counting")
    groups = searched(groups_of(source, request), request)
    hierarchies = hierarchies_of(source, request)
    models = models_of(request, groups, hierarchies)
    found = []
    for done, k in enumerate(ks, start=1):
        progress(done, len(ks) + 1, f"k = {k}")
        asked = replace(request, k=k, seconds=request.seconds / len(ks))
        try:
            result = anonymize(groups, hierarchies, models=models, **settings_of(source, asked))
        except InvalidInput as error:
            found.append(CurvePoint(k, why_not=error.message))
            continue
        sizes = ClassSizes.of(result.recoding.sizes)
        found.append(
            CurvePoint(
                k,
                loss=result.costs.loss,
                suppressed=result.suppressed,
                classes=result.classes,
                levels=result.levels,
                optimal=result.optimal,
                risk=risk_of(sizes, request.population),
            )
        )
    progress(len(ks) + 1, len(ks) + 1, "done")
    return risk_of(ClassSizes.of(groups.rows), request.population), found

"""What may be asked of a survey's reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.requests.request_fields import FieldKind, asked


@dataclass(frozen=True)
class EstimateFields:
    """What estimates are asked for; `discreet.survey.results` checks it.

    Its fields have places, as those of `EstimateRequest` always had. A command names a file of candidates for each open question, a body has the words themselves.
    """

    candidates: Mapping[str, Sequence[str]] = asked(
        FieldKind.TEXTS,
        "Words, one a line, to read an open question for.",
        default={},
        repeated=True,
        metavar="QUESTION=FILE",
        sent=False,
    )
    consistent: bool = asked(
        FieldKind.FLAG,
        "Shares that are at least 0 and add up to 1.",
        default=False,
    )
    confidence: float = asked(
        FieldKind.NUMBER,
        "How often an interval holds what it should.",
        default=0.95,
        above=0,
        most=1,
    )
    cross: Sequence[str] | None = asked(
        FieldKind.TEXTS,
        "Also the cross table of two questions.",
        default=None,
        many=2,
        metavar="A,B",
    )

"""What a question would cost and how exact it would be; nothing was spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from discreet.core.answers.answer_text import shown_up
from discreet.core.answers.rank_error import RankError
from discreet.core.bill import Bill, Charged
from discreet.core.display.lines import lines_html, lines_text
from discreet.core.escape_text import visible


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """The noise ± to expect at 95% for groups of a size that was named, by output; spends nothing.

    None in `noise`: unbounded, so small a group drowns. `ranks`: how many rows the rank of a quantile is
    off by at most. `appears_from`: how many noisy people a group needs to appear, where keys are private.
    """

    rows: int
    noise: Mapping[str, float | None]
    ranks: Mapping[str, int]
    appears_from: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values, and the ranks in words."""
        return asdict(self) | {"words": self.words()}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        return cls(found["rows"], found["noise"], found["ranks"], found["appears_from"])

    def words(self) -> dict[str, str]:
        """Return what is said of each rank among so many rows."""
        return {name: RankError(error, self.rows).words for name, error in self.ranks.items()}

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person reads."""
        widths = [
            f"{visible(name)} ± {'unbounded' if width is None else f'at most {shown_up(width)}'}"
            for name, width in self.noise.items()
        ]
        ranks = [f"{visible(name)} {words}" for name, words in self.words().items()]
        group = f"for groups of {self.rows:,} rows: {', '.join(widths + ranks)}"
        appear = () if self.appears_from is None else (f"from {self.appears_from:,} people on",)
        return [("noise (95%)", group), *(("groups", words) for words in appear)]


@dataclass(frozen=True, slots=True)
class Explanation(Charged):
    """What a question would cost and how exact it would be; nothing was spent.

    `after` is the payer's bill as the ledger would record it: that of the worst-hit person, not the
    sum of all prices. `words` says what the price promises, where a server answered.
    """

    dataset: str
    columns: tuple[str, ...]
    sql: str
    mechanisms: tuple[str, ...]
    expected_error: dict[str, float | None]
    region: str
    notes: tuple[str, ...]
    words: str = ""
    stated: StatedNoise | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet query --explain --json` prints."""
        return {
            "dataset": self.dataset,
            "columns": list(self.columns),
            "sql": self.sql,
            "mechanisms": list(self.mechanisms),
            **self.bill.to_json(),
            "expected_error": self.expected_error,
            "region": self.region,
            "spends": False,
            "notes": list(self.notes),
            "stated": None if self.stated is None else self.stated.to_json(),
            **({"words": self.words} if self.words else {}),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote, with the words that a server added."""
        return cls(
            bill=Bill.from_json(found),
            dataset=found["dataset"],
            columns=tuple(found["columns"]),
            sql=found["sql"],
            mechanisms=tuple(found["mechanisms"]),
            expected_error=found["expected_error"],
            region=found["region"],
            notes=tuple(found["notes"]),
            words=found.get("words", ""),
            stated=StatedNoise.from_json(found["stated"]) if found.get("stated") else None,
        )

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person reads: a name and a sentence in each line."""
        noise = [
            f"{visible(name)} ± {'depends on the data' if error is None else shown_up(error)}"
            for name, error in self.expected_error.items()
        ]
        return [
            ("price", self.bill.foreseen_words()),
            ("noise (95%)", ", ".join(noise) or "none"),
            *([] if self.stated is None else self.stated.lines()),
            ("about", visible(self.region)),
            *(("mechanism", visible(each)) for each in self.mechanisms),
            *(("note", visible(note)) for note in self.notes),
            *(("runs", visible(line)) for line in self.sql.splitlines()),
        ]

    def __str__(self) -> str:
        return lines_text(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return lines_html(self.lines())

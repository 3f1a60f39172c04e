"""One anonymization: the checked request, then count, search, recode, and measure what came out.

The request says what becomes of each column: coarsened, protected, as it is, or left out. Records and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.classes import bottom_table, histogram_of, whole_distribution
from discreet.anonymize.diversity import diversity_of
from discreet.anonymize.groups import Groups, Sensitive, group_table
from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.privacy_models import PrivacyModel, by_hierarchy, has_order, heights, tied
from discreet.anonymize.recoding import fetch, recoded, smallest_class
from discreet.anonymize.registry import COSTS, GeneralisationCost, models_asked
from discreet.anonymize.risk import NO_GUARANTEE, ClassSizes, MeasuredTable, risk_of
from discreet.anonymize.search import AnonymizeMethod, Missing, SearchResult, anonymize
from discreet.anonymize.source import PATIENCE, AnonymizeSource
from discreet.base import display
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.base.requests.fields import given as words_of
from discreet.base.requests.fields import named
from discreet.base.requests.unpaid import LocalAnonymizeFields
from discreet.data.catalog.policy_file import HIDDEN_COLUMN
from discreet.data.engines.base import open_exact
from discreet.errors import InternalError, InvalidInput

Choice = TypeVar("Choice", bound=Enum)


@dataclass(frozen=True, kw_only=True)
class AnonymizeRequest(LocalAnonymizeFields):
    """One anonymization, checked. Make it with `AnonymizeRequest.of`."""

    models: tuple[PrivacyModel, ...] = ()
    given: Mapping[str, Hierarchy] = field(default_factory=dict)

    if TYPE_CHECKING:
        k: int
        quasi: tuple[str, ...]
        cost: GeneralisationCost  # type: ignore[assignment]  # a word until it is checked
        method: AnonymizeMethod  # type: ignore[assignment]  # as above
        missing: Missing  # type: ignore[assignment]  # as above
        keep: tuple[str, ...]
        redact: tuple[str, ...]
        weights: Mapping[str, float]

    @classmethod
    def of(cls, **words: Any) -> AnonymizeRequest:
        """Return the request from the fields of `LocalAnonymizeFields`, or say which of them makes no sense."""
        asked = LocalAnonymizeFields(**words)
        if asked.k is None:
            raise InvalidInput("Say how many rows must look alike, with --k.", hint="Usual: 5.")
        if not asked.quasi:
            raise InvalidInput(
                "Say which columns others may know of a person, with --quasi.",
                hint="For example --quasi zip,birth_date,sex.",
            )
        if asked.population is not None and asked.population < 1:
            raise InvalidInput("The population must have at least one person.")
        if (asked.l is not None or asked.t is not None) and asked.sensitive is None:
            raise InvalidInput(
                "--l and --t protect a sensitive column: say which, with --sensitive."
            )
        _, *models = models_asked(asked)
        weights = asked.weights
        checked = {
            "quasi": tuple(asked.quasi),
            "models": tuple(models),
            "cost": named(COSTS, asked.cost, "cost"),
            "method": _choice(AnonymizeMethod, asked.method, "method"),
            "keep": tuple(asked.keep),
            "redact": tuple(asked.redact),
            "weights": _weights(weights) if isinstance(weights, str) else dict(weights),
            "missing": _choice(Missing, asked.missing, "missing"),
        }
        return cls(**words_of(asked) | checked)


def _choice(kind: type[Choice], written: str, name: str) -> Choice:
    return named({each.value: each for each in kind}, written, name)


def _weights(written: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in written.split(","):
        if not item.strip():
            continue
        name, equals, number = item.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"Write a weight as COLUMN=NUMBER, not '{item.strip()[:40]}'.")
    return found


REDACTED, NOT_NAMED = "redacted", "not named"


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of a table as a request uses them; `left_out` says why each of the others is."""

    quasi: tuple[str, ...]
    sensitive: str | None
    kept: tuple[str, ...]
    left_out: Mapping[str, str]


def roles_of(source: AnonymizeSource, request: AnonymizeRequest) -> ColumnRoles:
    """Return what becomes of each column of a table.

    Guarantee: a column is published only if the request names it, in one role, and no discreet.toml
        that the source knows hides it or makes it the person column. Such a column is refused in
        every role, not only left out: whoever hides it has said so in a place that outlasts a command.
    """
    quasi, kept = source.named(request.quasi), source.named(request.keep)
    redacted = source.named(request.redact)
    sensitive = None if request.sensitive is None else source.column(request.sensitive)
    _refuse_two_roles(
        {
            "a quasi-identifier": quasi,
            "sensitive": () if sensitive is None else (sensitive,),
            "kept": kept,
            "redacted": redacted,
        }
    )
    hidden = {name.lower(): why for name, why in source.hidden.items()}
    published = (*quasi, *(() if sensitive is None else (sensitive,)), *kept)
    for name in published:
        why = hidden.get(name.lower())
        if why is not None:
            raise InvalidInput(
                f"'{name}' is {why}, so no copy of '{source.label}' shows it.",
                hint="Leave it out, or first remove 'hidden = true' from it there."
                if why == HIDDEN_COLUMN
                else "Leave it out: with it, each row names its person.",
            )
    asked = dict.fromkeys(redacted, REDACTED)
    left_out = {
        name: hidden.get(name.lower()) or asked.get(name) or NOT_NAMED
        for name in source.columns
        if name not in published
    }
    return ColumnRoles(quasi, sensitive, kept, left_out)


def _refuse_two_roles(roles: Mapping[str, tuple[str, ...]]) -> None:
    found: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            first = found.setdefault(name, role)
            if first != role:
                raise InvalidInput(
                    f"'{name}' cannot be {first} and {role} at once.",
                    hint="Name each column once; what is not named is left out.",
                )


Tree: TypeAlias = Callable[[Sensitive], tuple[tuple[int, ...], ...]]
"""The label of each sensitive value at each height of its hierarchy."""

WORTH_SAYING = 0.02
"""Another method that loses less by more than this is proposed."""
TELLING = 0.5
"""A column that is kept as it is and has another value in more than this share of rows is noted."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anonymized(ShownInLines):
    """The copy, how it was found, and what it looks like before and after. Its repr shows no row."""

    label: str
    request: AnonymizeRequest
    table: pa.Table = field(repr=False)
    result: SearchResult
    before: MeasuredTable = field(repr=False)
    after: MeasuredTable = field(repr=False)
    kept: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet anonymize --json` prints."""
        result = self.result
        return {
            "k": result.k,
            "rows": result.rows,
            "suppressed": result.suppressed,
            "classes": result.classes,
            "levels": result.levels,
            **result.costs.shown,
            "optimal": result.optimal,
            "bound": result.bound,
            "cost": result.cost.value,
            "method": result.method.value,
            "conditions": result.conditions,
            "alternatives": [
                {"method": each.method.value, "loss": each.loss, "suppressed": each.suppressed}
                for each in result.alternatives
            ],
            "sensitive": {each.column: each.to_json() for each in self.after.diversity},
            "risk": self.after.risk.to_json() | {"before": self.before.risk.to_json()},
            "columns": self.table.column_names,
            "kept": list(self.kept),
            "redacted": list(self.left_out),
            "left_out": dict(self.left_out),
            "seconds": round(self.seconds, 3),
            "notices": list(self.notices),
            "says": NO_GUARANTEE,
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.anonymized_lines(self.to_json())


def run(
    source: AnonymizeSource, request: AnonymizeRequest, *, progress: Progress = silent
) -> Anonymized:
    """Return the anonymized copy of a table. Nothing is recorded or written: the caller's to do.

    Guarantee: none about persons. The copy has the columns that the request names, and no other
        (`ColumnRoles`). Its rows are counted as they stand in it: each looks like at least k - 1
        others in the quasi-identifiers, otherwise nothing is returned.
    """
    started = time.monotonic()
    roles = roles_of(source, request)
    quasi, sensitive = roles.quasi, roles.sensitive
    hierarchies = hierarchies_of(source, request)
    settings = settings_of(source, request)
    progress(0, 1, "counting")
    groups = groups_of(source, request)
    result = anonymize(
        searched(groups, request),
        hierarchies,
        models=models_of(request, groups, hierarchies),
        compare=True,
        progress=progress,
        **settings,
    )
    progress(0, 1, "recoding the rows")
    names = [name for name in source.columns if name not in roles.left_out]
    untouched = {name for name, level in (result.levels or {}).items() if level == 0}
    copy = recoded(fetch(source, names), groups, result.recoding, untouched=untouched)
    progress(0, 1, "measuring the copy")
    tree = _tree(request, hierarchies, sensitive)
    after = measured(group_table(copy, quasi, sensitive=sensitive), request.population, tree)
    _verify(result, request, copy, quasi)
    return Anonymized(
        label=source.label,
        request=request,
        table=copy,
        result=result,
        before=measured(groups, request.population, tree),
        after=after,
        kept=roles.kept,
        left_out=roles.left_out,
        notices=_notices(source, copy, roles.kept, result),
        seconds=time.monotonic() - started,
    )


def groups_of(source: AnonymizeSource, request: AnonymizeRequest) -> Groups:
    """Return the rows of a table as the request's quasi-identifiers tell them apart.

    One GROUP BY, the heavy part, on the engine.
    """
    roles = roles_of(source, request)
    quasi, sensitive = roles.quasi, roles.sensitive
    source.rows()  # refuses a table without any
    wanted = dict.fromkeys((*quasi, *([] if sensitive is None else [sensitive])))
    count = "n"
    while count in {name.lower() for name in wanted}:
        count += "n"
    cells = ", ".join(source.cell(name) for name in wanted)
    sql = f"SELECT {cells}, COUNT(*) AS {count} FROM {source.relation} GROUP BY {cells}"
    found = open_exact(source.engine.owner_reader().run(sql, seconds=PATIENCE))
    return group_table(found, quasi, sensitive=sensitive, count=count)


def settings_of(source: AnonymizeSource, request: AnonymizeRequest) -> dict[str, Any]:
    """Return what a request says about the search itself, columns as the table spells them."""
    weights = {source.column(name): weight for name, weight in request.weights.items()}
    names = ("k", "suppress", "cost", "method", "missing", "seconds")
    return {name: getattr(request, name) for name in names} | {"weights": weights}


def searched(groups: Groups, request: AnonymizeRequest) -> Groups:
    """Return the groups as the search needs them: a column that is only measured is a burden."""
    needed = any(model.needs_sensitive for model in request.models)
    return groups if needed else replace(groups, sensitive=None)


def hierarchies_of(source: AnonymizeSource, request: AnonymizeRequest) -> Mapping[str, Hierarchy]:
    """Return the hierarchies that were given, as texts or in a folder; others are built."""
    quasi = source.named(request.quasi)
    over_tree = request.sensitive is not None and by_hierarchy(request.models)
    named = (*quasi, *((source.column(request.sensitive or ""),) if over_tree else ()))
    given = {source.column(name): hierarchy for name, hierarchy in request.given.items()}
    unused = [name for name in given if name not in named]
    if unused:
        raise InvalidInput(
            f"'{unused[0]}' has a hierarchy but is no quasi-identifier.",
            hint="That of a sensitive column is used by --t with --distance hierarchical.",
        )
    read = {} if request.hierarchies is None else read_hierarchies(request.hierarchies, named)
    return {**read, **given}


def models_of(
    request: AnonymizeRequest, groups: Groups, hierarchies: Mapping[str, Hierarchy]
) -> tuple[PrivacyModel, ...]:
    """Return the conditions of a request, tied to the values that the sensitive column has."""
    sensitive = groups.sensitive
    given = None if sensitive is None else hierarchies.get(sensitive.column)
    return tied(request.models, sensitive, given)


def _tree(
    request: AnonymizeRequest, hierarchies: Mapping[str, Hierarchy], sensitive: str | None
) -> Tree | None:
    """Return how heights of sensitive values are found, where t is measured by them."""
    if sensitive is None or not by_hierarchy(request.models):
        return None
    return lambda found: heights(found, hierarchies.get(sensitive))


def measured(groups: Groups, population: int | None, tree: Tree | None = None) -> MeasuredTable:
    """Return sizes, risks and diversity of rows that were counted already."""
    sizes = ClassSizes.of(groups.rows)
    sensitive = groups.sensitive
    found = MeasuredTable(groups.quasi, sizes, risk_of(sizes, population))
    if sensitive is None:
        return found
    varied = diversity_of(
        sensitive.column,
        histogram_of(bottom_table(groups, len(groups.quasi)), whole_distribution(groups)),
        ordered=has_order(sensitive),
        levels=() if tree is None else tree(sensitive),
    )
    return replace(found, diversity=(varied,))


def _verify(
    result: SearchResult, request: AnonymizeRequest, copy: pa.Table, quasi: tuple[str, ...]
) -> None:
    if copy.num_rows != result.rows - result.suppressed:
        raise InternalError("the copy has another number of rows than was found")
    matching = request.missing is Missing.MATCHES
    if copy.num_rows and smallest_class(copy, quasi, matching=matching) < request.k:
        raise InternalError("the copy is not k-anonymous; nothing was written")


def _notices(
    source: AnonymizeSource, copy: pa.Table, kept: tuple[str, ...], result: SearchResult
) -> tuple[str, ...]:
    found = []
    if source.repeats_people():
        found.append(
            f"Some people have several rows in '{source.label}': k counts rows, so those that look "
            "alike may all be one person's. Make a table with one row for each person first."
        )
    telling = [
        name
        for name in kept
        if not pa.types.is_nested(copy.schema.field(name).type)
        and pc.count_distinct(copy.column(name)).as_py() > TELLING * copy.num_rows
    ]
    if telling:
        found.append(
            f"Nearly every row has another value of {', '.join(telling)}: who knows it finds the "
            "row. Redact such a column, or make it a quasi-identifier."
        )
    better = min(result.alternatives, key=lambda each: each.loss, default=None)
    if better is not None and result.costs.loss - better.loss > WORTH_SAYING:
        found.append(
            f"Loss {better.loss:.2f} instead of {result.costs.loss:.2f} under the same conditions: "
            f"--method {better.method.value}."
        )
    if not result.optimal and result.bound is not None and result.levels is not None:
        found.append(
            f"The search ran out of time: a better copy may exist, but none with "
            f"{result.cost.value} below {result.bound:,.6g}."
        )
    return tuple(found)

"""`discreet run`: the questions, releases and renewals of a SCHEDULE.toml that are due, each once a period.

There is no memory of its own that could be wrong after a crash. Every line has a request id made of the schedule's
name, its own and the period; the ledger charges one id once, and gives its answer again for nothing. So a run may be
stopped anywhere and repeated at will: what was paid is fetched, what was not is done.

Guarantee: a line is paid for at most once in a period, however often and by however many processes at once the
schedule is run. A line that was changed within its period is refused, not paid for again.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)

from discreet.base.display import ShownInLines, ShownLines
from discreet.base.files import open_regular, read_text, write_whole
from discreet.base.requests.fields import FieldKind, RequestField, request_fields
from discreet.base.requests.paid import ScheduleFields
from discreet.curator import Curator, renew_budget
from discreet.curator import open as open_curator
from discreet.data.catalog.catalog import Every
from discreet.data.catalog.policy_file import meant_file
from discreet.errors import DiscreetError, InvalidInput
from discreet.work.publish.specification import parse_spec

ONCE = "once"
PERIOD = "{period}"
_Name = Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Line(_Strict):
    name: _Name
    every: StrictStr

    def period(self, day: dt.date) -> str:
        """Return the name of the period that is due on `day`."""
        if self.every == ONCE:
            return ONCE
        try:
            return Every(self.every).period(day)
        except ValueError:
            known = ", ".join(each.value for each in Every)
            raise InvalidInput(f"{self.name}: 'every' is one of {known}, {ONCE}.") from None


_TYPES: dict[FieldKind, Any] = {
    FieldKind.TEXT: StrictStr,
    FieldKind.AMOUNT: StrictInt | Decimal | StrictStr,
    FieldKind.WHOLE: StrictInt,
}


def _written(each: RequestField) -> tuple[Any, Any]:
    """Return type and facts of a field of a question, under its option's name where it has one."""
    kind = _TYPES[each.kind] if each.required else _TYPES[each.kind] | None
    return kind, Field(default=each.default, alias=each.option.removeprefix("--") or None)


_ASKED: Any = {name: _written(each) for name, each in request_fields(ScheduleFields).items()}
_Question: Any = create_model("_Question", __base__=_Line, **_ASKED)


class QuestionLine(_Question):
    """`[[questions]]`: one SQL question, whose answer is written to a .csv or .json file."""

    out: StrictStr

    def asked(self) -> dict[str, Any]:
        """Return what is asked, by field."""
        return {name: getattr(self, name) for name in _ASKED}


class ReleaseLine(_Line):
    """`[[releases]]`: a SPEC.toml in which {period} stands for the period, and the package to write."""

    spec: StrictStr
    out: StrictStr


class RenewalLine(_Strict):
    """`[[renewals]]`: renew the budget of a dataset when its policy allows it."""

    dataset: StrictStr


class Schedule(_Strict):
    """The whole file."""

    name: _Name
    questions: list[QuestionLine] = Field(default_factory=list)
    releases: list[ReleaseLine] = Field(default_factory=list)
    renewals: list[RenewalLine] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, repr=False)
class LineDone(ShownInLines):
    """What became of one line: `done` now, done `before`, `waits` for its period, or `failed`."""

    line: str
    kind: str
    period: str
    outcome: str
    epsilon: float = 0.0
    out: str = ""
    error: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return one object of `discreet run --json`."""
        return asdict(self)

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        why = "" if self.error is None else f": {self.error['message']}"
        paid = f", epsilon {self.epsilon:g}" if self.epsilon else ""
        where = f" -> {self.out}" if self.out else ""
        return [(self.line, f"{self.period} {self.outcome}{paid}{where}{why}")]


def read_schedule(path: Path) -> Schedule:
    """Return what a SCHEDULE.toml says, or one sentence about what is wrong with it."""
    try:
        raw = tomllib.loads(read_text(path), parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(
            f"There is no readable file '{path}'.", hint="docs/operators.md has one."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path.name} is not valid TOML: {error}.") from None
    try:
        found = Schedule.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{path.name}: {place}: {first['msg']}.") from None
    lines: list[QuestionLine | ReleaseLine] = [*found.questions, *found.releases]
    names = [line.name for line in lines]
    if len(set(names)) != len(names):
        raise InvalidInput(f"{path.name}: two lines have one name; names tell what was paid for.")
    for line in lines:
        line.period(dt.date(2026, 1, 1))  # a wrong 'every' is said before anything runs
        endings = (".zip",) if isinstance(line, ReleaseLine) else (".csv", ".json")
        if not line.out.endswith(endings):
            raise InvalidInput(f"{line.name}: 'out' must end in {' or '.join(endings)}.")
    return found


def run_schedule(path: Path, config: Path, *, today: dt.date | None = None) -> Iterator[LineDone]:
    """Yield what becomes of each line, in the order of the file: renewals, questions, releases.

    A line that fails does not keep the others from running. Files lie beside the schedule.
    """
    schedule = read_schedule(path)
    day = dt.datetime.now(dt.UTC).date() if today is None else today
    for renewal in schedule.renewals:
        yield _renewed(renewal, config, day)
    with open_curator(config) as curator:
        for line in schedule.questions:
            with_id = f"run:{schedule.name}:{line.name}:{line.period(day)}"
            with _alone(path):
                done = _guarded(line, day, partial(_asked, curator, line, with_id, path.parent))
            yield done
        for release in schedule.releases:
            with _alone(path):
                done = _guarded(release, day, partial(_released, curator, release, path.parent))
            yield done


def run(
    schedule: str | Path, *, config: str | Path | None = None, today: dt.date | None = None
) -> list[LineDone]:
    """Return what became of each line of a SCHEDULE.toml: renewals, questions, releases that are due.

    Run it as often as you like: what was paid for in this period is not paid for again.

    >>> [line.outcome for line in discreet.run("SCHEDULE.toml")]            # doctest: +SKIP
    ['done', 'before']
    """
    return list(run_schedule(Path(schedule), meant_file(config), today=today))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one run of a schedule at a time do a line, so that each says rightly who has done it.

    What is paid does not depend on this: the ledger charges an id once, wherever it is asked from.
    """
    with open_regular(path) as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _renewed(line: RenewalLine, config: Path, day: dt.date) -> LineDone:
    try:
        done = renew_budget(config, line.dataset, today=day)
    except InvalidInput as error:  # not due: said, and no failure
        return LineDone(line.dataset, "renewal", "", "waits", error=error.to_json()["error"])
    except DiscreetError as error:
        return LineDone(line.dataset, "renewal", "", "failed", error=error.to_json()["error"])
    return LineDone(line.dataset, "renewal", done["period"], "done")


def _guarded(line: _Line, day: dt.date, work: Callable[[str], LineDone]) -> LineDone:
    period = line.period(day)
    try:
        return work(period)
    except DiscreetError as error:
        kind = "question" if isinstance(line, QuestionLine) else "release"
        return LineDone(line.name, kind, period, "failed", error=error.to_json()["error"])


def _asked(
    curator: Curator, line: QuestionLine, request_id: str, base: Path, period: str
) -> LineDone:
    place, asked = _place(base, line.out, period), line.asked()
    payer = curator.account_of(asked["analyst"])
    before = curator.stored_answer(request_id, analyst=payer) is not None
    answer = curator.query(**asked, request_id=request_id)
    text = answer.to_csv() if place.suffix == ".csv" else json.dumps(answer.to_json()) + "\n"
    _write(place, text.encode())
    spent = 0.0 if before or answer.free else float(answer.cost.epsilon or 0)
    outcome = "before" if before else "done"
    return LineDone(line.name, "question", period, outcome, spent, str(place))


def _released(curator: Curator, line: ReleaseLine, base: Path, period: str) -> LineDone:
    source = base / line.spec
    try:
        text = read_text(source)
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"There is no readable file '{source}'.") from None
    if line.every != ONCE and PERIOD not in text:
        raise InvalidInput(
            f"{line.name}: the spec's name must hold {PERIOD}, so that each period is a release of "
            "its own."
        )
    spec = parse_spec(text.replace(PERIOD, period), base=source.parent, name=source.name)
    place = _place(base, line.out, period)
    found = curator.publish(spec, out=place)
    spent = 0.0 if found.free else float(found.cost.epsilon or 0)
    outcome = "before" if found.free else "done"
    return LineDone(line.name, "release", period, outcome, spent, str(place))


def _place(base: Path, out: str, period: str) -> Path:
    place = base / out.replace(PERIOD, period)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # before anything is paid
        raise InvalidInput(f"The folder '{place.parent}' cannot be made.") from None
    return place


def _write(place: Path, data: bytes) -> None:
    try:
        write_whole(place, data, mode=0o644)
    except OSError:
        raise InvalidInput(
            f"'{place}' cannot be written.", hint="The answer is paid for: run again, it is free."
        ) from None

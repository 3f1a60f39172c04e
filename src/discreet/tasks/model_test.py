"""A written model and the rows that it is tested on: public ones, by the owner's word, or private ones.

The owner's word is asked for once and remembered. What a test on private rows would be refused for is refused
before the training is paid.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.display import ShownInLines, ShownLines
from discreet.base.event import EVERYONE, NOTHING, Cost, Quote
from discreet.base.files import write_whole
from discreet.base.numbers import Delta, Epsilon
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import BareTable, bare_table, put_back
from discreet.errors import InvalidInput
from discreet.measure.budget import synth_budget
from discreet.privacy.ledger.entry import MAX_NAME, Payer
from discreet.tasks.bare_file import rollback_unless_paid
from discreet.work.learn.model_files import AnyModel
from discreet.work.learn.recommender import Recommending
from discreet.work.learn.regression import Regressed
from discreet.work.learn.training import Trained
from discreet.work.learn.training_plan import LearnRequest, planned_training


@dataclass(frozen=True, slots=True)
class HeldOutFile:
    """Rows to test a model on; `public`: their owner declared them so, and the test is exact and free."""

    path: Path
    public: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WrittenModel(ShownInLines):
    """What was learned and what a test says of it, in a file that was written."""

    model: AnyModel
    found: Trained | Regressed | Recommending
    out: Path
    score: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.found.to_json() | dict(self.score) | {"out": str(self.out)}

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return [*self.found.lines(), ("kept in", str(self.out))]


def check_held_out(test: Path) -> None:
    """Refuse a test file that is not there, before anything is paid."""
    if not test.is_file():
        raise InvalidInput(f"There is no file '{test}' to test on.")


def usual_name(table: str, kind: str) -> Path:
    """Return the file that keeps a model of a table, where no other is named.

    >>> usual_name("town.people", "job-model").name
    'people-job-model.zip'
    """
    return Path(f"{table.rpartition('.')[2]}-{kind}.zip")


FOLDER, FILE = ".discreet", "public-tests.json"


def declared_public(
    test: Path, base: Path, *, said: bool, ask: Callable[[], bool] | None = None
) -> bool:
    """Return whether the owner declared these very rows public, now or before.

    `said`: the owner says so with this command. Who can be asked is asked once, by `ask`; elsewhere, what
    was not said is no. The word is for the bytes of the file: changed rows are asked about again. It is
    kept in `base`, the folder of the discreet.toml.
    """
    place = base / FOLDER / FILE
    with test.open("rb") as file:
        known, digest = _remembered(place), hashlib.file_digest(file, "sha256").hexdigest()
    if said or digest in known:
        if said and not known.get(digest, {}).get("public"):
            _remember(place, known, digest, test, public=True)
        return said or bool(known[digest]["public"])
    if ask is None:
        return False
    public = ask()
    _remember(place, known, digest, test, public=public)
    return public


def _remembered(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(place: Path, known: dict[str, Any], digest: str, test: Path, *, public: bool) -> None:
    word = {"file": test.name, "public": public, "said": dt.datetime.now(dt.UTC).isoformat()}
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(place, json.dumps({**known, digest: word}, indent=1))
    except OSError:
        raise InvalidInput(f"The owner's word cannot be kept in '{place}'.") from None


AGAIN = "-test"
"""What the request id of a test has beside that of its training."""


def id_of_test(request_id: str | None) -> str | None:
    """Return the request id of the test of a training; refuse one that no ledger keeps.

    >>> id_of_test("may")
    'may-test'
    """
    if not request_id:
        return None
    if len(request_id) + len(AGAIN) > MAX_NAME:
        raise InvalidInput(
            f"The test is charged under the training's request id and '{AGAIN}', so the id must have at "
            f"most {MAX_NAME - len(AGAIN)} characters.",
            hint="Nothing was charged.",
        )
    return request_id + AGAIN


@contextmanager
def declared_test(
    test: HeldOutFile | None, wanted: Sequence[dict[str, Any]]
) -> Iterator[BareTable | None]:
    """Lend where a private test file is declared, with a limit for the tests of all trainings.

    Undone where nothing is paid. A limit for the first test alone would refuse the second one, after
    its training was paid.
    """
    if test is None or test.public:
        yield None
        return
    whole = sum((Epsilon.of(each["epsilon"]).value for each in wanted), Fraction(0))
    found = bare_table(test.path, epsilon=Epsilon(whole), untyped=True)
    with rollback_unless_paid(found):
        yield found


def check_private_test(
    curator: Curator, table: str, wanted: Sequence[dict[str, Any]], test: HeldOutFile | None
) -> None:
    """Refuse trainings whose private tests the budget of the test file has no room for; nothing is paid.

    Where one budget pays for both, there must be room for both. What was paid before under the same
    request id costs nothing more.
    """
    with declared_test(test, wanted) as found:
        if test is None or found is None:
            return
        try:
            _check_room(curator, table, wanted, test, found)
        finally:
            put_back(found)


def _check_room(
    curator: Curator,
    table: str,
    wanted: Sequence[dict[str, Any]],
    test: HeldOutFile,
    found: BareTable,
) -> None:
    requests = [LearnRequest.of(table, **each) for each in wanted]
    with open_curator(found.config) as theirs:
        dataset = theirs.catalog.datasets[found.dataset]
        payer = Payer(theirs.account_of(None), dataset.name, dataset.budget)
        own, _ = curator.catalog.named(table)
        shared = own.budget == dataset.budget and _same_place(curator, theirs)
        costs: list[Cost] = []
        for each, asked in zip(requests, wanted, strict=True):
            again = id_of_test(asked["request_id"])
            if again is None or theirs.ledger.charge_of(payer.analyst, again) is None:
                costs.append(_test_cost(each.epsilon))
            if shared:
                costs += _training_cost(curator, each)
        if not costs:
            return
        whole = costs[0]
        for cost in costs[1:]:
            whole += cost
        before, after = theirs.ledger.foreseen(payer, Quote(NOTHING, whole, EVERYONE))
    if after.epsilon > before.limit_epsilon:
        both = "The training and its test" if shared else "The test on these rows"
        raise InvalidInput(
            f"{both} would be charged to the budget of '{dataset.budget}', which is private, and there is no "
            f"room for that: {float(before.left):g} of epsilon {float(before.limit_epsilon):g} is left.",
            hint=f"If the rows of '{test.path.name}' are public, say --test-public; otherwise use smaller "
            "epsilons, or ask the data owner to raise the limit.",
        )


def _same_place(curator: Curator, theirs: Curator) -> bool:
    return curator.ledger.identity == theirs.ledger.identity


def _test_cost(epsilon: Epsilon) -> Cost:
    return synth_budget(epsilon, Delta.of(0), region=EVERYONE).quote.cost


def _training_cost(curator: Curator, request: LearnRequest) -> list[Cost]:
    """Return what a training costs; nothing where its request id was paid before."""
    with planned_training(request, curator) as plan:
        payer = plan.look.payer
        if curator.ledger.charge_of(payer.analyst, request.request_id) is not None:
            return []
        return [plan.look.budget.quote.cost]

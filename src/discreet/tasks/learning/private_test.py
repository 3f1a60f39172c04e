"""A test on private rows, foreseen: what it would be refused for is refused before the training is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.catalog.bare_file import BareTable, bare_table, put_back
from discreet.core.cost import Cost, Quote
from discreet.core.event import NOTHING
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE
from discreet.errors import InvalidInput
from discreet.learn.training_plan import LearnRequest, planned_training
from discreet.ledger.entry import MAX_NAME, Payer
from discreet.synth.budget import synth_budget
from discreet.tasks.bare_file.unpaid import rollback_unless_paid
from discreet.tasks.learning.written_model import HeldOutFile

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

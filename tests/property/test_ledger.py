"""The ledger as a state machine: several processes, reopenings, limits that move, and a model."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from discreet.base.event import Positions, Region
from discreet.errors import BudgetExceeded, RequestConflict, UnknownName
from discreet.privacy.ledger import Ledger, Payer
from ledger_kit import OWNER, open_ledger, pay
from region_kit import contains
from sittings import FULL

PEOPLE = [
    dict(zip(("age", "sex"), spot, strict=True)) for spot in itertools.product(range(3), range(3))
]

positions = st.sets(st.integers(0, 2), min_size=0, max_size=3).map(Positions.points)
regions = st.dictionaries(st.sampled_from(["age", "sex"]), positions, max_size=2).map(Region.of)
amounts = st.sampled_from(["0.05", "0.1", "0.25", "1/3", "0.7"])
limits = st.sampled_from(["0.5", "1", "1.5", "2"])
payers = st.sampled_from([OWNER, Payer(None, "visits", "census")])


class LedgerMachine(RuleBasedStateMachine):
    """Two handles on one ledger; the model bills every person of a tiny domain exactly."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.limit = Fraction(1)
        self.bills = [Fraction(0) for _ in PEOPLE]
        self.granted: dict[str, tuple] = {}
        self.handles = [self.opened(), self.opened()]

    def opened(self) -> Ledger:
        return open_ledger(self.base, self.limit)

    def after(self, region: Region, amount: Fraction) -> list[Fraction]:
        return [
            bill + amount if contains(region, person) else bill
            for bill, person in zip(self.bills, PEOPLE, strict=True)
        ]

    @rule(which=st.integers(0, 1), region=regions, amount=amounts, payer=payers)
    def charge(self, which, region, amount, payer):
        name = f"r{len(self.granted)}"
        wanted = self.after(region, Fraction(amount))
        # A third is finer than the quantum: its bill is rounded up, by less than this.
        slack = Fraction(len(self.granted) + 1, 10**15)
        try:
            receipt = pay(self.handles[which], amount, name, region, payer)
        except BudgetExceeded:
            assert max(wanted) + slack > self.limit
            return
        assert max(wanted) <= self.limit
        assert max(wanted) <= receipt.after.epsilon <= max(wanted) + slack
        self.bills = wanted
        self.granted[name] = (amount, region, payer, receipt)

    @rule(which=st.integers(0, 1), data=st.data())
    def repeat(self, which, data):
        if not self.granted:
            return
        name = data.draw(st.sampled_from(sorted(self.granted)))
        amount, region, payer, first = self.granted[name]
        again = pay(self.handles[which], amount, name, region, payer)
        assert again.repeated
        assert again.position == first.position

    @rule(which=st.integers(0, 1))
    def conflict(self, which):
        if not self.granted:
            return
        try:
            pay(self.handles[which], "0.05", next(iter(self.granted)), payer=Payer(None, "x", "y"))
        except (RequestConflict, UnknownName):
            return
        raise AssertionError("a used id was accepted for another payer")

    @rule(which=st.integers(0, 1))
    def reopen(self, which):
        self.handles[which].close()
        self.handles[which] = self.opened()

    @rule(which=st.integers(0, 1), limit=limits)
    def move_limit(self, which, limit):
        self.limit = Fraction(limit)
        self.handles[which].close()
        self.handles[which] = self.opened()

    @invariant()
    def every_handle_knows_the_worst_bill(self):
        slack = Fraction(len(self.granted) + 1, 10**15)
        for handle in self.handles:
            spent = handle.spent("census")
            assert max(self.bills) <= spent.epsilon <= max(self.bills) + slack
            assert spent.charges == len(self.granted)
            assert spent.limit_epsilon == self.limit

    def teardown(self):
        assert self.handles[0].verify() >= len(self.granted)
        for handle in self.handles:
            handle.close()
        shutil.rmtree(self.base)


LedgerMachine.TestCase.settings = settings(
    max_examples=25 if FULL else 12, stateful_step_count=20, deadline=None, derandomize=True
)
TestLedger = LedgerMachine.TestCase

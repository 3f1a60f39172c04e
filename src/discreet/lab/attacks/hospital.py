"""The hospital of the example town, its patients, its voter roll, and what an adversary makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput
from discreet.lab.attacks.curator import Ask, AttackTable, categories, curator_over, temporary_town
from discreet.lab.attacks.membership.game import DECLARED
from discreet.lab.attacks.record_links import PersonLinks
from discreet.lab.town import Town
from discreet.lab.town import parameters as p
from discreet.lab.town.people import DIAGNOSES, SEXES

SLIP_DAYS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Hospital:
    """What the hospital released (patients without names, their diagnoses), and who they are.

    `patients` has a row for each patient with the quasi-identifiers; `treated[i, d]` says whether
    patient i was treated for diagnosis d; `identity` is for the scorer only.
    """

    patients: pa.Table
    treated: Bits
    diagnoses: tuple[str, ...]
    identity: Integers

    @classmethod
    def of(cls, made: Town, diagnoses: Sequence[str]) -> Hospital:
        """Return the hospital of a town, patients in random order."""
        people, visits = made.load("people"), made.load("visits")
        who, patient = np.unique(visits["person_id"].to_numpy(), return_inverse=True)
        place = pc.index_in(pa.array(who), people["person_id"].combine_chunks()).to_numpy()
        treated = np.zeros((len(who), len(diagnoses)), dtype=np.bool_)
        kinds = pc.index_in(visits["diagnosis"], pa.array(diagnoses)).to_numpy()
        treated[patient, kinds] = True
        return cls(people.take(pa.array(place)), treated, tuple(diagnoses), who.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class VoterRoll:
    """The voter roll; `identity` is for the scorer only."""

    voters: pa.Table
    identity: Integers

    @classmethod
    def of(cls, made: Town, *, errors: float, dice: np.random.Generator) -> VoterRoll:
        """Return the roll with a share `errors` of its rows copied with a slip of the pen."""
        voters = made.load("voters")
        identity = made.load("voters_key")["person_id"].to_numpy().astype(np.int64)
        return cls(with_typos(voters, errors, dice), identity)


def prior_of(made: Town, table: pa.Table) -> Floats:
    """Return how likely each diagnosis is for people of this age and sex: common knowledge.

    From the published parameters of the town, not from its rows. (age band, sex, smoker, diagnosis)
    """
    shares = np.asarray(made.truth["diagnosis_shares"], dtype=np.float64)
    born = pc.year(table["birth_date"]).to_numpy()
    age = np.clip(p.REFERENCE_DAY.year - born, 0, 120)
    band = np.searchsorted(np.array(DIAGNOSIS_BANDS), age, side="right") - 1
    sex = (table["sex"].to_numpy(zero_copy_only=False) == "Male").astype(np.int64)
    prior: Floats = shares[band, sex].mean(axis=1)
    return prior


DIAGNOSIS_BANDS = tuple(p.VISIT_MEANS_FROM_AGE)
"""The first age of each band of `diagnosis_shares`."""


def learned(
    hospital: Hospital, roll: VoterRoll, links: PersonLinks, prior: Floats
) -> tuple[Bits, Bits, Bits]:
    """Return for each voter who is a patient: linked rightly, named a true diagnosis, did so blindly.

    The adversary names a diagnosis from the linked patient's file, or without a link the most common
    one for the age and sex; blindly always the latter.
    """
    true = _rows_of(roll.identity, hospital.identity)
    targets = np.flatnonzero(true >= 0)
    partner = np.full(len(roll.identity), -1, dtype=np.int64)
    partner[links.first] = links.second
    blind = prior.argmax(axis=1)
    # Of the diagnoses in the file any one will do: the first.
    guess = np.where(partner >= 0, hospital.treated[partner].argmax(axis=1), blind)
    theirs = hospital.treated[true[targets]]
    rows = np.arange(len(targets))
    return (
        partner[targets] == true[targets],
        theirs[rows, guess[targets]],
        theirs[rows, blind[targets]],
    )


def asked(
    ask: Ask,
    hospital: Hospital,
    roll: VoterRoll,
    prior: Floats,
    *,
    epsilon: float,
    targets: int,
    dice: np.random.Generator,
) -> tuple[int, int]:
    """Return how many of some voters' diagnoses the same adversary names from a curator's answers.

    For each target the whole budget is spent on the one question that matters: the diagnoses of
    people with the target's ZIP code, birth date and sex. (Different targets are different people, so
    the ledger lets each of them cost `epsilon`.) The answer is weighed with what is commonly known:
    the log odds of one visit among the noisy counts, discrete Laplace of scale 1 / epsilon.
    """
    true = _rows_of(roll.identity, hospital.identity)
    chosen = dice.permutation(np.flatnonzero(true >= 0))[:targets]
    right, seen = 0, set()
    for voter in chosen:
        cell = tuple(roll.voters[name][int(voter)].as_py() for name in ("zip", "birth_date", "sex"))
        if cell in seen:
            continue  # the same question again would be the same answer
        seen.add(cell)
        answer = ask(_QUESTION.format(*cell), epsilon)
        counts = dict(answer.rows)
        noisy = np.array([float(counts[name]) for name in hospital.diagnoses])
        odds = epsilon * (np.abs(noisy) - np.abs(noisy - 1)) + np.log(
            np.maximum(prior[voter], 1e-12)
        )
        right += int(hospital.treated[true[voter], odds.argmax()])
    return right, len(seen)


_QUESTION = (
    "SELECT v.diagnosis, COUNT(*) AS n FROM visits AS v JOIN people AS p ON v.person_id = p.person_id "
    "WHERE p.zip = '{}' AND p.birth_date = DATE '{}' AND p.sex = '{}' GROUP BY v.diagnosis"
)


def shuffled(roll: VoterRoll, dice: np.random.Generator) -> VoterRoll:
    """Return the null control: as many voters, each with somebody else's columns."""
    return VoterRoll(roll.voters, dice.permutation(roll.identity))


def _rows_of(wanted: Integers, among: Integers) -> Integers:
    """Return the row of each in `among`, which is sorted, or -1."""
    place = np.minimum(np.searchsorted(among, wanted), len(among) - 1)
    found: Integers = np.where(among[place] == wanted, place, -1)
    return found


def with_typos(voters: pa.Table, errors: float, dice: np.random.Generator) -> pa.Table:
    """Return the roll with slips: half of them a date off by up to three days, half a ZIP typo."""
    if not 0 <= errors <= 1:
        raise InvalidInput("A share of errors must be from 0 to 1.")
    draw = dice.random(voters.num_rows)
    late, typo = draw < errors / 2, (draw >= errors / 2) & (draw < errors)
    shift = dice.integers(1, SLIP_DAYS + 1, len(draw)) * dice.choice([-1, 1], len(draw))
    days = voters["birth_date"].cast(pa.int32()).to_numpy() + np.where(late, shift, 0)
    zips = voters["zip"].to_pylist()
    for row in np.flatnonzero(typo):
        zips[row] = zips[row][:-1] + str((int(zips[row][-1]) + int(dice.integers(1, 10))) % 10)
    names = voters.column_names
    voters = voters.set_column(
        names.index("birth_date"), "birth_date", pa.array(days.astype(np.int32)).cast(pa.date32())
    )
    return voters.set_column(names.index("zip"), "zip", pa.array(zips))


SENSITIVE = "condition"
QUASI = ("age", "sex", "region", "household_size")
"""What a neighbour knows of a patient, and what both hospitals publish in coarser form."""
OTHERS = ("smoker", "job")
"""Further secrets that the same release could hold."""
BAND = 20
"""Years of an age band in the private table."""


@dataclass(frozen=True, slots=True, eq=False)
class Patients:
    """One row a patient: quasi-identifiers and condition; and what is commonly known of each."""

    table: pa.Table
    truth: Integers
    prior: Floats

    def some(self, rows: Integers) -> Patients:
        """Return some of them."""
        return Patients(self.table.take(pa.array(rows)), self.truth[rows], self.prior[rows])


def patients_of(people: int, *, seed: int) -> Patients:
    """Return the patients of a town; the condition is the first diagnosis on each one's list."""
    with temporary_town(people, tables=("people", "visits"), seed=seed) as made:
        hospital = Hospital.of(made, DIAGNOSES)
        prior = prior_of(made, hospital.patients)
    dice = np.random.default_rng(seed)
    # One of the person's diagnoses, each as likely: the list's own order would favour some.
    lots = np.where(hospital.treated, dice.random(hospital.treated.shape), -1.0)
    truth = lots.argmax(axis=1).astype(np.int64)
    table = hospital.patients.select([*QUASI, *OTHERS])
    table = table.append_column(SENSITIVE, pa.array(DIAGNOSES).take(pa.array(truth)))
    return Patients(table, truth, prior)


def private_beliefs(patients: Patients, targets: Patients, *, epsilon: float) -> Floats:
    """Return how likely each condition is for each target, by a curator's table of the patients.

    One question of epsilon: conditions by sex and age band. Counts below half a person count as half
    of one, and every row is weighed with common knowledge as if that were ten more patients.
    """
    # The domains are public, from the recipe of the town.
    declared = {name: DECLARED[name] for name in QUASI} | {SENSITIVE: categories(DIAGNOSES)}
    with curator_over({"patients": AttackTable(patients.table, declared)}, epsilon=epsilon) as ask:
        table = noisy_table(ask, epsilon)
    age = targets.table["age"].to_numpy() // BAND
    sex = np.array([SEXES.index(cell) for cell in targets.table["sex"].to_pylist()])
    counts = table[age, sex]
    weight = 10.0 * targets.prior
    beliefs = np.maximum(counts, 0.5) + weight
    return np.asarray(beliefs / beliefs.sum(axis=1, keepdims=True))


def noisy_table(ask: Ask, epsilon: float) -> Floats:
    """Return noisy counts of patients by age band, sex and condition."""
    sql = (
        f"SELECT age // {BAND} AS band, sex, {SENSITIVE}, COUNT(*) AS n FROM patients "
        f"GROUP BY band, sex, {SENSITIVE}"
    )
    table = np.zeros((120 // BAND + 1, len(SEXES), len(DIAGNOSES)))
    for band, sex, condition, count in ask(sql, epsilon).rows:
        table[int(band), SEXES.index(sex), DIAGNOSES.index(condition)] = float(count)
    return table

"""Model inversion: a dose model, a stable dose and demographics give away a patient's genotype (Fredrikson's guess)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    file_knob,
    words_knob,
)
from discreet.lab.attacks.curator import AttackTable, regressions
from discreet.lab.attacks.files import OwnPeople, named, people_of, read_rows
from discreet.lab.attacks.membership.scores import mean_interval
from discreet.lab.town import parameters as p
from discreet.lab.town.studies import CYP2C9, RACES, dosing_batch
from discreet.show import DocumentBlock, Figure, Grid, Paragraph, lines
from discreet.work.learn.gram_matrix import Variable, variables_of

ATTACK = Attack(
    name="inversion",
    title="What does the dose model know of my genes?",
    words="A dose model, a patient's dose and demographics give away the genotype.",
    knobs=(
        Knob("people", 5_000, "patients that a model is trained on", 100, 50_000, 100),
        Knob("models", 5, "trainings, each on patients of its own", 4, 50, 1),
        Knob("epsilon", 0.05, "price of the private model", 0.01, 64.0, 0.01),
        words_knob("secret", "vkorc1", "the column that is guessed"),
        words_knob("hidden", "cyp2c9", "other columns that the adversary does not know"),
        words_knob("known", "race", "the column by which common knowledge of the secret differs"),
        words_knob("columns", "age,weight,race,vkorc1,cyp2c9,amiodarone", "what the model goes by"),
        file_knob("patients", "your own file of patients, instead of made-up ones"),
        words_knob("dose", "dose", "its column with the stable weekly dose"),
        Knob("seed", 0, "which patients", 0, 1_000_000, 1),
    ),
)
CURVE = (0.5, 4.0)
"""Prices beside the chosen one, for the picture of privacy against dosing error."""
WITHIN = 0.2
"""A dose is acceptable within this share of the stable one, as the consortium counted."""


Inverted = dict[str, float]
"""One model against its patients: secrets guessed, on strangers too, and what its doses are worth."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often the genotype is guessed from a plain dose model and from private ones."""
    prices = tuple(sorted({*CURVE, chosen.number("epsilon")}))
    models = chosen.whole("models")
    found: dict[float | None, list[Inverted]] = {price: [] for price in (None, *prices)}
    for number in range(models):
        progress(number, models, f"training: {number + 1} of {models}")
        for price, one in _training(chosen, number, prices).items():
            found[price].append(one)
    progress(models, models, "done")
    figures = {
        price: {name: np.array([one[name] for one in ones]) for name in ones[0]}
        for price, ones in found.items()
    }
    return outcome_of(chosen, figures)


def _training(
    chosen: AttackSettings, number: int, prices: Sequence[float]
) -> dict[float | None, Inverted]:
    patients = _only(dose_study(chosen, number), chosen)
    hidden = (chosen.text("secret"), *chosen.words("hidden"))
    common = HiddenValueRates.of(patients.known, hidden, chosen.text("known"))
    models: dict[float | None, DoseModel] = {None: plain_model(patients.trained)}
    models |= zip(prices, private_models(patients.trained, prices), strict=True)
    return {price: _judged(model, common, patients) for price, model in models.items()}


def _only(patients: DoseStudy, chosen: AttackSettings) -> DoseStudy:
    """Return the patients with the columns that the model goes by, as the file spells them."""
    have = {name.lower(): name for name in patients.trained.domains}
    wanted = chosen.words("columns") or tuple(n for n in have if n != ROOT)
    for name in (*wanted, chosen.text("secret"), *chosen.words("hidden"), *chosen.words("known")):
        if name.lower() not in have:
            raise InvalidInput(
                f"The patients have no column '{name}'.", hint=f"They have: {', '.join(have)}."
            )
    missing = [n for n in (chosen.text("secret"), *chosen.words("hidden")) if n not in wanted]
    if missing:
        raise InvalidInput(f"The model does not go by '{missing[0]}': it cannot give it away.")
    return patients.only([have[name.lower()] for name in wanted])


def _judged(model: DoseModel, common: HiddenValueRates, patients: DoseStudy) -> Inverted:
    strangers = patients.strangers.rows
    truth, predicted = strangers[ROOT].to_numpy(), model.predict(strangers)
    spread = float(np.sqrt(np.mean((truth - predicted) ** 2)))
    gaps = np.abs(predicted**2 - truth**2)
    return {
        "right": float(inverted(model, spread, common, patients.trained.rows).mean()),
        "on_strangers": float(inverted(model, spread, common, strangers).mean()),
        "blind": float(without_model(common, patients.trained.rows).mean()),
        "error": float(gaps.mean()),
        "acceptable": float((gaps <= WITHIN * truth**2).mean()),
    }


ROOT = "dose_root"
"""The column that is predicted: the square root of the weekly dose, as in the published formula."""
FEWEST = 60

DOMAINS: dict[str, FiniteDomain] = {
    "age": IntegerDomain(p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER),
    "sex": CategoryDomain(("Female", "Male")),
    "race": CategoryDomain(RACES),
    "height": IntegerDomain(p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER),
    "weight": NumberDomain(
        Fraction(str(p.DOSING_WEIGHT_LOWER)), Fraction(str(p.DOSING_WEIGHT_UPPER)), Fraction(1, 10)
    ),
    "vkorc1": CategoryDomain(p.VKORC1),
    "cyp2c9": CategoryDomain(CYP2C9),
    "amiodarone": BooleanDomain(),
    "inducer": BooleanDomain(),
    ROOT: NumberDomain(Fraction(1), Fraction(13), Fraction(1, 100)),
}
"""What the town's patients may be: public, from the published recipe."""


@dataclass(frozen=True, slots=True, eq=False)
class DoseStudy:
    """Patients of one training, patients who were not in it, and what is known of patients at large."""

    trained: OwnPeople
    strangers: OwnPeople
    known: pa.Table

    def only(self, columns: Sequence[str]) -> DoseStudy:
        """Return the same patients with these columns, and the dose."""
        kept = [*(name for name in columns if name != ROOT), ROOT]

        def of(people: OwnPeople) -> OwnPeople:
            domains = {name: people.domains[name] for name in kept}
            return OwnPeople(people.rows.select(kept), domains)

        return DoseStudy(of(self.trained), of(self.strangers), self.known)


def dose_study(chosen: AttackSettings, number: int) -> DoseStudy:
    """Return the patients of one training: drawn anew from the town, or another half of the file."""
    if chosen.text("patients"):
        everyone = own_patients(chosen)
    else:
        everyone = town_patients(3 * chosen.whole("people"), chosen.whole("seed") + 7_919 * number)
    dice = np.random.default_rng([chosen.whole("seed"), number])
    order = dice.permutation(everyone.rows.num_rows)
    size = min(chosen.whole("people"), len(order) // 3)
    parts = [
        OwnPeople(everyone.rows.take(pa.array(order[i * size : (i + 1) * size])), everyone.domains)
        for i in range(3)
    ]
    return DoseStudy(parts[0], parts[1], parts[2].rows)


def town_patients(count: int, seed: int) -> OwnPeople:
    """Return made-up patients."""
    table = pa.Table.from_batches([dosing_batch(seed, count)])
    return OwnPeople(with_root(table, "dose").select(list(DOMAINS)), DOMAINS)


def own_patients(chosen: AttackSettings) -> OwnPeople:
    """Return the patients of the file; every column beside the dose is one that the model uses."""
    columns = chosen.words("columns")
    dose, secret = chosen.text("dose"), chosen.text("secret")
    wanted: Sequence[str] = (*columns, *(n for n in (secret, dose) if n not in columns))
    found = people_of(read_rows(chosen.text("patients")), wanted if columns else ())
    named(found.rows, (dose, secret), label="Your file")
    rows = with_root(found.rows, dose).drop_null()
    if rows.num_rows < FEWEST:
        raise InvalidInput(
            f"{rows.num_rows} patients have no gap in any column; it takes at least {FEWEST}.",
            hint="Name fewer columns with --columns.",
        )
    values = rows[ROOT].to_numpy()
    root = NumberDomain(
        Fraction(int(values.min())), Fraction(int(values.max()) + 1), Fraction(1, 100)
    )
    kept = {n: d for n, d in found.domains.items() if n.lower() != dose.lower()}
    if not isinstance(kept.get(named(rows, [secret], label="Your file")[0]), CategoryDomain):
        raise InvalidInput(f"The secret '{secret}' must be a column of words, not of numbers.")
    return OwnPeople(rows.select([*kept, ROOT]), {**kept, ROOT: root})


def with_root(table: pa.Table, dose: str) -> pa.Table:
    """Return the table with the square root of the dose instead of the dose."""
    (name,) = named(table, [dose], label="Your file")
    values = pc.cast(table[name], pa.float64())
    if pc.min(values).as_py() is None or pc.min(values).as_py() <= 0:
        raise InvalidInput(f"The doses in '{name}' must be above 0.")
    return table.drop_columns([name]).append_column(ROOT, pc.sqrt(values))


DELTA = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class DoseModel:
    """Predicts the root of a dose: an intercept and a weight for each scaled variable."""

    variables: tuple[Variable, ...]
    target: Variable
    weights: Floats

    def predict(self, rows: pa.Table) -> Floats:
        """Return the predicted root of each patient's dose, inside the declared range."""
        return self._roots(_design(rows, self.variables) @ self.weights)

    def under(
        self, rows: pa.Table, columns: Sequence[str], values: Sequence[Sequence[str]]
    ) -> Floats:
        """Return the roots that it would predict if these columns had these values, a column for each."""
        design = _design(rows, self.variables)
        place = [i for i, v in enumerate(self.variables, 1) if v.column in columns]
        design[:, place] = 0.0
        rest, found = design @ self.weights, []
        for combination in values:
            said = dict(zip(columns, combination, strict=True))
            added = sum(
                float(self.weights[i]) * (1 if said[v.column] == v.value else -1)
                for i, v in enumerate(self.variables, 1)
                if v.column in said
            )
            found.append(rest + added)
        return self._roots(np.stack(found, axis=1))

    def _roots(self, scaled: Floats) -> Floats:
        low, high = float(self.target.lower), float(self.target.upper)
        return np.asarray(low + (np.clip(scaled, -1, 1) + 1) / 2 * (high - low))


def plain_model(people: OwnPeople) -> DoseModel:
    """Return the least-squares model of these patients."""
    *features, target = _variables(people)
    truth = _design(people.rows, [target])[:, 1]
    weights = np.linalg.lstsq(_design(people.rows, features), truth, rcond=None)[0]
    return DoseModel(tuple(features), target, np.asarray(weights, dtype=np.float64))


def private_models(people: OwnPeople, epsilons: Sequence[float]) -> list[DoseModel]:
    """Return a model for each epsilon, each bought on its own from a curator."""
    exhibit = AttackTable(people.rows, people.declared())
    made = regressions(exhibit, target=ROOT, epsilons=epsilons, delta=DELTA)
    return [DoseModel(model.variables, model.target, model.weights) for model in made]


def _variables(people: OwnPeople) -> list[Variable]:
    names = [*(name for name in people.domains if name != ROOT), ROOT]
    return [v for name in names for v in variables_of(Column(name, people.domains[name]))]


def _design(rows: pa.Table, variables: Sequence[Variable]) -> Floats:
    columns = [np.ones(rows.num_rows)]
    for variable in variables:
        values = rows[variable.column]
        if variable.value is None:
            low, high = float(variable.lower), float(variable.upper)
            columns.append((2 * values.cast(pa.float64()).to_numpy() - low - high) / (high - low))
        else:
            words = values.cast(pa.string()).to_numpy(zero_copy_only=False)
            same = str(variable.value).lower() if variable.value is True else variable.value
            columns.append(np.where(words == same, 1.0, -1.0))
    return np.stack(columns, axis=1)


_SOFT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class HiddenValueRates:
    """How common each combination of hidden values is, for each value of a known column.

    Learned from patients who are in no training: what anybody can read in a journal.
    """

    columns: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]
    groups: Mapping[str, Floats]
    overall: Floats
    known: str

    @classmethod
    def of(cls, rows: pa.Table, hidden: Sequence[str], known: str) -> HiddenValueRates:
        """Return the shares among these patients."""
        texts = [_words(rows[name]) for name in hidden]
        combinations = tuple(product(*(sorted(set(text.tolist())) for text in texts)))
        place = {each: i for i, each in enumerate(combinations)}
        codes = np.array([place[each] for each in zip(*(t.tolist() for t in texts), strict=True)])
        group = _words(rows[known]) if known else np.full(rows.num_rows, "", dtype=object)

        def shares(keep: Bits) -> Floats:
            counts = np.bincount(codes[keep], minlength=len(combinations)) + _SOFT
            return np.asarray(counts / counts.sum())

        groups = {name: shares(group == name) for name in sorted(set(group.tolist()))}
        every = shares(np.ones(len(codes), dtype=np.bool_))
        return cls(tuple(hidden), combinations, groups, every, known)

    def of_people(self, rows: pa.Table) -> Floats:
        """Return the shares that each patient's known column gives, a row for each."""
        if not self.known:
            return np.tile(self.overall, (rows.num_rows, 1))
        return np.stack(
            [self.groups.get(word, self.overall) for word in _words(rows[self.known]).tolist()]
        )

    def secrets(self) -> tuple[tuple[str, ...], Integers]:
        """Return the values of the first hidden column, and which of them each combination has."""
        values = tuple(dict.fromkeys(each[0] for each in self.combinations))
        return values, np.array([values.index(each[0]) for each in self.combinations])


def without_model(common: HiddenValueRates, rows: pa.Table) -> Bits:
    """Return who is guessed right from common knowledge alone: the baseline."""
    return _right(common, rows, common.of_people(rows))


def inverted(model: DoseModel, error: float, common: HiddenValueRates, rows: pa.Table) -> Bits:
    """Return whose secret is guessed right from the model, the stable dose and common knowledge.

    `error` is the spread of the model's residuals, published with it: a model that is mostly noise has
    a large one, and then common knowledge decides.
    """
    truth = rows[ROOT].to_numpy()
    logs = np.log(common.of_people(rows))
    roots = model.under(rows, common.columns, common.combinations)
    logs -= 0.5 * ((truth[:, None] - roots) / error) ** 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return _right(common, rows, weights)


def _right(common: HiddenValueRates, rows: pa.Table, weights: Floats) -> Bits:
    values, which = common.secrets()
    beliefs = np.stack([weights[:, which == i].sum(axis=1) for i in range(len(values))], axis=1)
    guesses = np.array(values, dtype=object)[beliefs.argmax(axis=1)]
    return np.asarray(guesses == _words(rows[common.columns[0]]))


def _words(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    return np.asarray(column.cast(pa.string()).to_numpy(zero_copy_only=False), dtype=object)


Figures = Mapping[float | None, Mapping[str, Floats]]
"""For each price (None: no noise) each figure of every training."""


def outcome_of(chosen: AttackSettings, found: Figures) -> Outcome:
    """Return the outcome; intervals are Student's over the trainings."""
    epsilon, secret = chosen.number("epsilon"), chosen.text("secret")
    hidden = " and ".join((secret, *chosen.words("hidden")))
    by = f" for each {chosen.text('known')}" if chosen.text("known") else ""
    plain, ours = found[None], found[epsilon]
    cost = float(ours["error"].mean() - plain["error"].mean())
    return Outcome(
        knew=f"A patient's stable dose and every column but {hidden}; the model and its published "
        f"error; how common each {secret} is{by}.",
        released=f"A model of the weekly dose from {chosen.text('columns').replace(',', ', ')}, trained on "
        f"{chosen.whole('people'):,} patients ({chosen.whole('models')} such trainings)."
        if not chosen.text("patients")
        else f"A model of {chosen.text('dose')} trained on a third of the patients in "
        f"{chosen.text('patients')} ({chosen.whole('models')} such trainings).",
        did=f"Asked the model for the dose under every {secret}, and took the one that fits the known dose "
        "best, weighed by how common it is (Fredrikson et al. 2014).",
        lesson="What a model says about everybody it says about you. Noise that hides it costs doses: a "
        "trade to be made in the open.",
        score=_score(plain),
        private=_score(ours),
        private_words=f"The ridge regression of discreet learn at epsilon {epsilon:g}: its doses are off by "
        f"{ours['error'].mean():.1f} mg a week instead of {plain['error'].mean():.1f} "
        f"({cost:+.1f}).",
        details=_details(found),
        blocks=_blocks(chosen, found),
    )


def _score(figures: Mapping[str, Floats]) -> Score:
    right, low, high = mean_interval(figures["right"])
    return Score(right, float(figures["blind"].mean()), max(low, 0.0), min(high, 1.0))


def _named(price: float | None) -> str:
    return "no noise" if price is None else f"epsilon {price:g}"


def _details(found: Figures) -> dict[str, Any]:
    names = ("value", "low", "high")
    return {
        "by_price": {
            _named(price): {
                figure: dict(zip(names, mean_interval(values), strict=True))
                for figure, values in figures.items()
            }
            for price, figures in found.items()
        },
        "trainings": len(next(iter(found.values()))["right"]),
    }


def _blocks(chosen: AttackSettings, found: Figures) -> tuple[DocumentBlock, ...]:
    points = [
        (float(figures["error"].mean()), float(figures["right"].mean()))
        for figures in found.values()
    ]
    blind = float(next(iter(found.values()))["blind"].mean())
    rows = []
    for price, figures in found.items():
        cells: list[float | str] = [_named(price)]
        for figure in ("right", "on_strangers"):
            cells += list(mean_interval(figures[figure]))
        rows.append((*cells, *mean_interval(figures["error"]), float(figures["acceptable"].mean())))
    heads = (
        "model",
        "guessed",
        "low",
        "high",
        "of strangers",
        "low",
        "high",
        "mg off",
        "low",
        "high",
    )
    return (
        Figure(
            "Privacy against dosing error",
            lines(
                {f"{chosen.text('secret')} guessed": sorted(points)},
                threshold=blind,
                mark="common knowledge alone",
                title="share guessed",
                across="doses off by, mg a week",
            ),
            "Each point is a price: "
            + ", ".join(
                f"{_named(price)} {error:.1f} mg"
                for (error, _), price in zip(points, found, strict=True)
            )
            + ". To the right the doses get worse, downwards the genotype is safer.",
        ),
        Grid.of(
            (*heads, "within 20%"),
            rows,
            f"95% intervals over {chosen.whole('models')} trainings, each on patients of its own.",
            shares=(1, 2, 3, 4, 5, 6, 10),
        ),
        Paragraph(
            "Strangers were in no training. What is guessed of them too is what the model says of people "
            "in general; differential privacy promises nothing about that, noise merely hides it."
        ),
    )

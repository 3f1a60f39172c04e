"""Run by test_recipes.py in a process of its own: a toy of each kind, one file and one line each, used for real.

The files lie in the folder that is given; nothing of the package is changed but its registries. What was seen is
written to `seen.json` there.
"""

import contextlib
import importlib.util
import inspect
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from unittest.mock import Mock

FOLDER = Path(sys.argv[1])
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(FOLDER), str(ROOT / "tests"), str(ROOT / "scripts")]

FILES = {
    "toy_attack": '''
"""Guess heads, always."""
from discreet.lab.attacks.attacks import Attack, Knob, file_knob, words_knob
from discreet.lab.attacks.attacks import Outcome, Score

KNOBS = (
    Knob("coins", 10, "How many.", 1, 99),
    Knob("dictionary", "", "a place on this machine"),
    file_knob("rows", "a file"),
    words_knob("columns", "", "its columns"),
)
ATTACK = Attack("toy", "A toy", "Guesses heads.", KNOBS)


def run(chosen, *, progress):
    score = Score.of_guesses(chosen.whole("coins") // 2, chosen.whole("coins"), baseline=0.5)
    told = {"knew": "Nothing.", "released": "Coins.", "did": "Guessed.", "lesson": "No lesson."}
    return Outcome(**told, score=score, private=score)
''',
    "toy_method": '''
"""Columns independent, under another name."""
from discreet.work.synth.methods.independent import fit
''',
    "toy_learner": '''
"""Say the most common class."""
import numpy as np
from discreet.work.learn.classifier import FittedModel
from discreet.work.learn.features import class_shares, scored


def fit(door, features, *, variance, share, progress):
    shares = class_shares(list(features))
    logs = np.log(np.maximum(shares, 1e-9))
    found = scored(logs) - (logs[0] if len(shares) == 2 else 0.0)
    return FittedModel(found, (), shares)
''',
    "toy_regressor": '''
"""Say the middle of the range."""
import numpy as np


def fit(sums, deviation):
    return np.zeros(len(sums) - 1)
''',
    "toy_mechanism": '''
"""Randomized response, under another name."""
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.base import AnswerDomain, AnswerSpace, Mechanism

MECHANISM = Mechanism(
    "toy",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: KaryResponse.of(space.codes, epsilon, name="toy"),
    audited=AnswerSpace(codes=3),
)
''',
    "toy_law": '''
"""Laplace noise under another name, with an event that no accountant has seen."""
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar
from discreet.privacy.noise.laws import LaplaceLaw


@dataclass(frozen=True)
class ToyEvent:
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class ToyLaw(LaplaceLaw):
    name: ClassVar[str] = "toy"

    @property
    def words(self):
        return f"wooden noise of scale {self.scale}"

    @property
    def error95(self):
        return 0.999 * LaplaceLaw.error95.fget(self)

    def event(self, *, l1, l2_squared, coordinates=None):
        return ToyEvent(Fraction(l1()) / self.scale)
''',
    "toy_cost": '''
"""The highest level of any column."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Highest:
    def of(self, view):
        return float(max(view.levels))

    bound = of


def model(groups, ladders, weights):
    return Highest()


def measured(copy):
    return None if copy.levels is None else float(max(copy.levels))
''',
    "toy_model": '''
"""No sensitive value in more than one of l rows: (alpha, k)-anonymity."""
import math
from dataclasses import dataclass
from discreet.anonymize.diversity import tops_and_tails
from discreet.anonymize.privacy_models import PrivacyModel


@dataclass(frozen=True, slots=True)
class Rarity(PrivacyModel):
    l: float

    @property
    def smallest(self):
        return math.ceil(self.l)

    def holds(self, histogram):
        return tops_and_tails(histogram, 1)[0] * self.l <= histogram.sizes

    def words(self):
        return f"one of {self.l:g} rows of a class at most has a wooden value"


def asked(fields):
    return None if fields.l is None else Rarity(fields.l)
''',
    "toyfeature/pages": '''
"""A page that says a word."""
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from discreet.server.access.auth import GuardedRoute, everybody
from discreet.server.feature import EVERYBODY, Feature, Place

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((router,), places=(Place("Toyland", "/toyland", 99, EVERYBODY),))


@router.get("/toyland")
@everybody
def toyland():
    """Say a word."""
    return PlainTextResponse("a toy says hello")
''',
}
FIELD = '    colour: str = asked(FieldKind.TEXT, "Of the copy.", default="red", longest=9)\n'
"""The one line of a new field of a synthesis, and before which one it is written."""
BEFORE = "    method: str = "
SURVEY = {"title": "t", "epsilon": "2"}
CHOICE = {"kind": "choice", "options": ["a", "b", "c"], "mechanism": "toy"}


def add_field():
    """Import what a synthesis is asked with as if one line stood in its file, before anything reads it."""
    from discreet.base import requests

    spec = importlib.util.find_spec("discreet.base.requests.paid")
    text = Path(spec.origin).read_text()
    assert text.count(BEFORE) == 1
    requests.paid = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    wider = compile(text.replace(BEFORE, FIELD + BEFORE), spec.origin, "exec")
    exec(wider, vars(requests.paid))  # our own file


def add_lines():
    """Add one line to each registry, before anything else of the package is imported."""
    from discreet.anonymize.registry import (
        COSTS,
        PRIVACY_MODELS,
        GeneralisationCost,
        NamedPrivacyModel,
    )
    from discreet.lab.attacks.attacks import MODULES
    from discreet.privacy.account.tally import RULES, pure_tally
    from discreet.privacy.noise.laws.registry import LAWS
    from discreet.server import features
    from discreet.survey.mechanisms import MECHANISMS
    from discreet.work.learn.learners.registry import CHECKING, CLASSIFY, LEARNERS, REGRESS, Learner
    from discreet.work.synth.methods.registry import METHODS, Method

    MODULES["toy"] = "toy_attack"
    METHODS["toy"] = Method("toy_method", "columns independent", "A method made of wood.")
    words = "Always the most common class."
    LEARNERS["toy"] = Learner(CLASSIFY, "toy_learner", words, counting=1 - CHECKING)
    LEARNERS["toyline"] = Learner(REGRESS, "toy_regressor", "Always the middle.")
    import toy_mechanism

    MECHANISMS["toy"] = toy_mechanism.MECHANISM
    import toy_law

    LAWS["toy"] = toy_law.ToyLaw
    RULES[toy_law.ToyEvent] = lambda event: pure_tally(event.epsilon)
    COSTS["toy"] = GeneralisationCost("toy", "toy_cost", "The highest level.", weighted=False)
    PRIVACY_MODELS["toy"] = NamedPrivacyModel("toy_model", "One of L rows at most has a value.")
    features.__path__.append(str(FOLDER / "features"))


def printed(*arguments):
    """Return what a command prints; it must succeed."""
    from discreet.cli.app import run

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        status = run([str(each) for each in arguments])
    assert status == 0, (arguments, shown.getvalue())
    return shown.getvalue()


def commands():
    """Return the help texts, and what the commands did."""
    files = [FOLDER / name / "rows.csv" for name in ("copied", "classified", "regressed")]
    for rows in files:
        rows.parent.mkdir()
        rows.write_text("a,b,n\n" + "1,x,3\n2,y,4\n1,y,9\n" * 200)
    first, second, third = files  # each with a ledger of its own
    paid = ["--epsilon", "1", "--accept", "--json"]
    copy, model, line = FOLDER / "copy.csv", FOLDER / "m.zip", FOLDER / "r.zip"
    return {
        "synth": json.loads(
            printed(*["synth", first, "--method", "toy", "--colour", "blue", "--out", copy], *paid)
        ),
        "classify": json.loads(
            printed(
                *["learn", "classify", "--target", "b", "--model", "toy"],
                second,
                "--out",
                model,
                *paid,
            )
        ),
        "regress": json.loads(
            printed(
                *["learn", "regress", "--target", "n", "--model", "toyline"],
                third,
                "--out",
                line,
                *paid,
            )
        ),
        "predicted": [
            printed("learn", "predict", kept, rows, "--out", FOLDER / "p.csv")
            for kept in (model, line)
        ],
        "attack": json.loads(printed("attack", "toy", "--coins", "20", "--json")),
        "help": {
            " ".join(words): " ".join(printed(*words, "--help").split())
            for words in (
                *(["synth"], ["learn", "classify"], ["learn", "regress"], ["attack"]),
                ["anonymize"],
            )
        },
    }


def published():
    """Return a release without delta, whose noise is the toy: what its parts say, and who believes it."""
    import random

    import publish_kit
    from discreet.curator import Curator

    place = FOLDER / "county"
    place.mkdir()
    publish_kit.write_tables(place, publish_kit.random_rows(500, random.Random(1)))
    (place / "discreet.toml").write_text(publish_kit.toml_text())
    tables = publish_kit.random_tables(random.Random(1))
    (place / "SPEC.toml").write_text(publish_kit.spec_text(tables, name="wood", delta=""))
    where = ["--config", place / "discreet.toml"]
    rehearsed = printed("publish", place / "SPEC.toml", "--rehearse", "--json", *where)
    package = place / "R.zip"
    printed("publish", place / "SPEC.toml", "--out", package, *where)
    with zipfile.ZipFile(package) as archive:
        (place / "verify.py").write_bytes(archive.read("verify.py"))
        sheet = archive.read("sheet.html").decode()
        events = json.loads(archive.read("manifest.json"))["events"]
    own = ROOT / "src" / "discreet" / "work" / "publish" / "verify.py"
    with Curator(publish_kit.catalog_of(place)) as curator:
        asked = ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "1")
        plan = curator.explain(asked[0], epsilon=asked[1])
        first, again = (curator.query(asked[0], epsilon=asked[1], request_id="q") for _ in "12")
    return {
        "rehearsed": json.loads(rehearsed),
        "sheet": sheet,
        "events": events,
        "verified": json.loads(printed("verify", package, "--json")),
        "alone": {
            name: subprocess.run(
                [sys.executable, "-I", str(file), str(package)],
                capture_output=True,
                text=True,
                check=False,
            ).stdout
            for name, file in (("of the package", place / "verify.py"), ("of another", own))
        },
        "plan": repr(plan),
        "same": str(first.rows) == str(again.rows),
    }


def anonymized():
    """Return copies of the toy cost under the toy model, by the command and by a curator."""
    from discreet.curator import open as open_curator
    from server_kit import write_world

    rows = FOLDER / "copied" / "rows.csv"
    asked = ["--quasi", "a,n", "--sensitive", "b", "--k", "3", "--l", "1.5"]
    toys = ["--cost", "toy", "--diversity", "toy"]
    out = ["--out", FOLDER / "copied" / "safe.csv"]
    found = {
        "json": json.loads(printed("anonymize", rows, *asked, *toys, *out, "--json")),
        "words": printed("anonymize", rows, *asked, *toys, *out),
    }
    with open_curator(write_world(FOLDER / "copies")) as curator:
        call = {"k": 3, "quasi": ["age"], "sensitive": "sex", "l": 1.5, "diversity": "toy"}
        copy = curator.anonymize("people", **call, cost="toy")
    return found | {"curator": [copy.result.costs.toy, copy.result.conditions]}


def survey():
    """Return the mechanism of a question that names the toy, and a report of it."""
    from discreet.survey import audited
    from discreet.survey.plan import SurveyPlan
    from discreet.survey.specification import survey_of

    plan = SurveyPlan.of(survey_of(SURVEY | {"questions": {"q": CHOICE}}, name="s"), nonce="00")
    return {
        "named": plan.choices[0].randomizer.name,
        "document": plan.document.decode(),
        "reports": audited.toy(0, 50).tolist(),
    }


def pages():
    """Return the pages of a server that show the toys."""
    import server_kit

    place = server_kit.write_world(FOLDER / "world")
    with server_kit.running(place) as server, server.client(server.token()) as client:
        names = ("synthesize", "models", "lab", "lab/toy", "toyland")
        found = {name: client.get(f"/{name}").text for name in names}
        found["openapi"] = client.get("/api/v1/openapi.json").text
        asked = {"table": "people", "epsilon": "1"}
        for colour in ("ultramarine", "blue"):
            body = asked | {"colour": colour}
            found[colour] = client.post("/api/v1/synth/explain", json=body).status_code
        found["copy"] = client.get(f"/anonymize/{kept_copy(server.context)}").text
        return found


def field():
    """Return where the new field of a synthesis is found: signatures, what is sent, request, reference."""
    import reference

    import discreet
    from discreet.base.requests.fields import sent
    from discreet.curator.client.client import RemoteSynthCall
    from discreet.tasks.synthesize import synthesize
    from discreet.work.synth.prepare import SynthRequest

    callables = {
        "Curator": discreet.Curator.synthesize,
        "Client": discreet.Client.synthesize,
        "discreet": synthesize,
        "linked": discreet.Curator.synthesize_linked,
    }
    signatures = {
        name: {each.name: repr(each.default) for each in inspect.signature(it).parameters.values()}
        for name, it in callables.items()
    }
    page = reference.python_page()
    return {
        "signatures": signatures,
        "helped": [name for name, it in callables.items() if "- `colour`: Of the" in it.__doc__],
        "sent": sent(RemoteSynthCall(table="t", epsilon=1, colour="blue", request_id="one")),
        "request": SynthRequest.of("t", epsilon=1, colour="blue").colour,
        "body": SynthRequest.of("t", epsilon=1, colour="blue").body,
        "reference": [
            line.partition("(")[0]
            for line in page.splitlines()
            if line.startswith(("- `.", "synthesize(")) and "colour: str = 'red'" in line
        ],
        "commands": [line for line in reference.commands_page().splitlines() if "--colour" in line],
    }


def kept_copy(context):
    """Return the id of a copy on the shelf of a server, made as its child process makes them."""
    from discreet.anonymize.run import AnonymizeRequest
    from discreet.server.features.anonymize.in_child import make

    request = AnonymizeRequest.of(
        k=3, quasi=("age",), sensitive="sex", l=1.5, diversity="toy", cost="toy"
    )
    with context.workspace.curator() as curator:
        bench = Mock(curator=lambda: curator, folder=None)
        state = context.settings.state_folder
        return make(bench, state=state, table="people", where=None, request=request)["release"]


def tables():
    """Return the tables of the documents."""
    import reference

    found = {" ".join(at): table() for at, table in reference.TABLES.items() if at[0] != "sql.md"}
    return found | {"endpoints": reference.endpoints_page()}


def contract():
    """Return how many tests of the contract suites took the toys, and whether all of them passed."""
    import pytest

    class Count:
        passed, failed = 0, 0

        def pytest_runtest_logreport(self, report):
            self.passed += report.when == "call" and report.passed
            self.failed += report.failed

    found = {}
    for file in (
        "contract/test_synth_methods.py",
        "unit/work/learn/test_private_residuals.py",
        "unit/survey/test_laws.py",
        "contract/test_noise_laws.py",
        "contract/test_anonymize_costs.py",
        "contract/test_anonymize_models.py",
    ):
        count = Count()
        options = ["-q", "-k", "toy", "-p", "no:cacheprovider", "--workers", "0"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main([*options, str(ROOT / "tests" / file)], [count])
        found[file] = [count.passed, count.failed]
    return found


if __name__ == "__main__":
    for name, text in FILES.items():
        path = FOLDER / ("features" if "/" in name else "") / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip())
        if "/" in name:
            (path.parent / "__init__.py").write_text('"""A toy."""\n')
    add_field()
    add_lines()
    parts = (commands, field, published, anonymized, survey, pages, tables, contract)
    seen = {part.__name__: part() for part in parts}
    (FOLDER / "seen.json").write_text(json.dumps(seen))

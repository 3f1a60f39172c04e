"""The recipes of CONTRIBUTING hold: a toy of each kind is one file and one line, and works everywhere."""

import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from discreet import errors
from discreet.ask.release.stored_answers import PaidValue
from discreet.base.event import Pure
from discreet.base.unit import Neighbours
from discreet.cli import app as commands
from discreet.cli.app import run
from discreet.privacy.kernel.mechanism import Norm, VectorSum
from discreet.privacy.kernel.nodes import Apply, Constant, Unfit
from discreet.privacy.kernel.scalars import value_of
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.privacy.noise.laws import registry as registry_of_laws
from discreet.server.problems import status_of
from discreet.testing import SeededRng

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
COMMAND = '''"""Say a word."""


def toy(word: str) -> None:
    """Say a word."""
    print(word)
'''


# Two rows, before anything else is imported: one that engines compute, one that is put as others.
SCALARS = """
import json, sys
from pathlib import Path
from discreet.privacy.kernel.functions import SEALED
from discreet.privacy.kernel.functions import Applied, ScalarFunction, called
from discreet.privacy.kernel.functions import integer

SEALED["bit_count"] = ScalarFunction(
    written=("BIT_COUNT(x)",),
    takes="number",
    gives="number",
    compute=lambda value: int(value).bit_count(),
    sql={"duckdb": called("bit_count")},
    between=(0, 64),
    applied={"bit_count": Applied(lambda found, _term: found[0].bounded and integer(0, 64, wide=False), (1,))},
)

from discreet.ask.plan import expr as e
from discreet.ask.plan.functions import PlannedFunction
from discreet.ask.plan.functions import PLANNED

PLANNED["triple"] = PlannedFunction(
    written=("TRIPLE(x)",),
    takes="number",
    gives="number",
    compute=lambda value: 3 * value,
    rewritten=lambda operand: e.Arithmetic(e.Operator.MULTIPLY, operand, e.Literal(3)),
)

import discreet
from discreet.errors import QueryRefused

sys.path.insert(0, sys.argv[2])
import reference

with discreet.open(Path(sys.argv[1])) as curator:

    def asked(sql):
        return curator.query(sql, epsilon="1000000000").rows  # noise of 0

    large = asked("SELECT SUM(BIT_COUNT(x)) AS bits, SUM(TRIPLE(x)) AS three FROM numbers")
    small = asked("SELECT SUM(BIT_COUNT(s)) AS bits, SUM(TRIPLE(s)) AS three FROM numbers")
    after = asked("SELECT TRIPLE(COUNT(*)) AS three, BIT_COUNT(COUNT(*)) AS bits FROM numbers")
    try:
        refused = asked("SELECT SUM(QUADRUPLE(x)) AS four FROM numbers")
    except QueryRefused as declined:
        refused = declined.construct
print(json.dumps([large, small, after, refused, reference.functions_table()], default=str))
"""
NUMBERS = """
[datasets.numbers]
epsilon = 10000000000
[datasets.numbers.tables.numbers]
source = "numbers.csv"
unit = "row"
[datasets.numbers.tables.numbers.columns]
x = { type = "integer", lower = 0, upper = 1000000 }
s = { type = "integer", lower = 0, upper = 9 }
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes the one new file of a recipe and puts it on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Return what was seen of toys that are one file and one line each (recipe_toys.py)."""
    folder = tmp_path_factory.mktemp("toys")
    command = [sys.executable, str(Path(__file__).with_name("recipe_toys.py")), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "seen.json").read_text())


def test_an_attack(seen):
    assert seen["commands"]["attack"]["success"] == 0.5
    assert "toy Guesses heads." in seen["commands"]["help"]["attack"]
    assert 'href="/lab/toy"' in seen["pages"]["lab"]
    assert "Guesses heads." in seen["pages"]["lab/toy"]
    assert "| `toy` | Guesses heads. |" in seen["tables"]["attacks.md attacks"]


def test_a_setting_of_an_attack_that_names_a_place_is_not_in_the_lab(seen):
    page = seen["pages"]["lab/toy"]
    assert 'data-word="columns"' in page
    assert 'name="rows"' in page
    assert "dictionary" not in page


def test_a_synthesis_method(seen):
    assert seen["commands"]["synth"]["method"] == "toy"
    assert "random, rap or toy." in seen["commands"]["help"]["synth"]
    assert "A method made of wood." in seen["pages"]["synthesize"]
    assert 'data-among="tree,correlated,independent,toy"' in seen["pages"]["synthesize"]
    assert (
        "| `toy` | A method made of wood. | `bins`, `split` |" in seen["tables"]["synth.md methods"]
    )
    passed, failed = seen["contract"]["contract/test_synth_methods.py"]
    assert (passed >= 20, failed) == (True, 0)


def test_a_classifier(seen):
    assert seen["commands"]["classify"]["model"] == "toy"
    help_text = seen["commands"]["help"]["learn classify"]
    assert "bayes, network or toy." in help_text
    assert "logistic,boosted,bayes,toy." in help_text
    assert "Always the most common class." in seen["pages"]["models"]
    assert (
        "| `toy` | `classify` | Always the most common class. |"
        in seen["tables"]["learn.md models"]
    )
    assert "Wrote 600 predictions" in seen["commands"]["predicted"][0]
    passed, failed = seen["contract"]["unit/work/learn/test_private_residuals.py"]
    assert (passed >= 1, failed) == (True, 0)


def test_a_regressor(seen):
    assert seen["commands"]["regress"]["model"] == "toyline"
    assert "auto, ridge or toyline." in seen["commands"]["help"]["learn regress"]
    assert "| `toyline` | `regress` | Always the middle. |" in seen["tables"]["learn.md models"]
    assert "Wrote 600 predictions" in seen["commands"]["predicted"][1]
    assert "Always the middle." not in seen["pages"]["models"], "the page trains classifiers"


def test_a_survey_mechanism(seen):
    """In Python; a device that is to know it needs its two lines of JavaScript and its vectors."""
    assert seen["survey"]["named"] == "toy"
    assert json.loads(seen["survey"]["document"])["questions"][0]["mechanism"] == "toy"
    assert set(seen["survey"]["reports"]) == {0, 1, 2}
    passed, failed = seen["contract"]["unit/survey/test_laws.py"]
    assert (passed >= 5, failed) == (True, 0)


def test_a_feature_of_the_server(seen):
    assert seen["pages"]["toyland"] == "a toy says hello"
    assert 'href="/toyland"' in seen["pages"]["synthesize"], "it has its place in the frame"


def test_a_field_of_a_request(seen):
    """One line of a dataclass: curator, client, function, command, body, wire, request and reference have it."""
    found = seen["field"]
    for name in ("Curator", "Client", "discreet"):
        assert found["signatures"][name]["colour"] == "'red'"
    assert "colour" not in found["signatures"]["linked"], "it is a field of one table's copy"
    assert found["helped"] == ["Curator", "Client", "discreet"]
    assert found["sent"] == {"table": "t", "epsilon": "1", "colour": "blue", "request_id": "one"}
    assert found["request"] == "blue"
    assert "colour" not in found["body"], "what an id stands for is what costs budget"
    assert found["reference"] == ["- `.synthesize", "- `.synthesize", "synthesize"]
    assert found["commands"] == ["| `--colour` | Of the copy. |"]
    helped = seen["commands"]["help"]["synth"].partition("--colour ")[2]
    assert "Of the copy. [default: red]" in helped[:50]
    properties = json.loads(seen["pages"]["openapi"])["components"]["schemas"]["SynthBody"]
    assert properties["properties"]["colour"]["description"] == "Of the copy."
    assert (seen["pages"]["ultramarine"], seen["pages"]["blue"]) == (400, 200)


def test_an_error(monkeypatch):
    class ToyError(errors.InvalidInput):
        """A toy is broken."""

    monkeypatch.setattr(errors, "ToyError", ToyError, raising=False)
    monkeypatch.syspath_prepend(str(SCRIPTS))
    reference = import_module("reference")
    assert "| `ToyError` | `InvalidInput` | A toy is broken. |" in reference.errors_page()
    assert status_of(ToyError("It is broken.")) == status_of(errors.InvalidInput("It is."))
    assert ToyError("It is broken.", hint="Mend it.").to_json()["error"]["kind"] == "ToyError"


def test_a_command(written, monkeypatch, capsys):
    monkeypatch.setitem(commands.COMMANDS, "toy", (written("toy_command", COMMAND), "Say a word."))
    assert run(["toy", "hello"]) == 0
    assert capsys.readouterr().out.strip() == "hello"
    assert run(["--help"]) == 0
    assert "Say a word." in capsys.readouterr().out


@dataclass(frozen=True, slots=True)
class ToyLaw(LaplaceLaw):
    """Laplace noise that only claims what any pure mechanism may."""

    name: ClassVar[str] = "toy"

    def event(self, *, l1, l2_squared, coordinates=None):
        return Pure(Fraction(l1()) / self.scale)


def test_a_noise_law(seen):
    """It is published: rehearsed, released, read by whoever has its row, and refused by whoever has not."""
    found = seen["published"]
    assert found["rehearsed"]["state"] == "rehearsed"
    assert {event["law"] for event in found["events"]} == {"toy"}
    assert {"scale", "l1"} <= found["events"][0].keys()
    assert "discrete toy" in found["sheet"]
    assert (found["verified"]["valid"], found["verified"]["problems"]) == (True, [])
    assert "pld" in found["verified"]["checks"]
    assert "wood: valid" in found["alone"]["of the package"]
    assert "a noise law is unknown" in found["alone"]["of another"]
    assert "wooden noise of scale" in found["plan"]
    assert found["same"]
    passed, failed = seen["contract"]["contract/test_noise_laws.py"]
    assert (passed >= 13, failed) == (True, 0)


def test_a_law_that_was_kept(monkeypatch):
    monkeypatch.setitem(registry_of_laws.LAWS, "toy", ToyLaw)
    law = registry_of_laws.law_of("toy", Fraction(3))
    total = VectorSum(size=4, norm=Norm.L1, bound=6, neighbours=Neighbours.ADD_REMOVE)
    assert total.event(law) == Pure(Fraction(2))
    assert total.noisy(np.zeros(4, dtype=np.int64), law, SeededRng(1)).shape == (4,)
    kept = PaidValue("people", "rows", (), 5, law)
    assert PaidValue.from_json(kept.to_json()) == kept
    assert law.half_width("0.95") == LaplaceLaw.of(3).half_width("0.95")


def test_a_cost(seen):
    found = seen["anonymized"]
    assert (found["json"]["cost"], found["json"]["toy"]) == ("toy", found["json"]["bound"])
    assert "toy: " in found["words"]
    assert found["curator"][0] >= 0
    help_text = seen["commands"]["help"]["anonymize"]
    assert "What is kept small: discernibility, height, classes, loss, entropy, toy." in help_text
    assert "loss, entropy, toy." in seen["tables"]["endpoints"]
    assert "the one with the least toy was wanted" in seen["pages"]["copy"]
    assert "| `toy` | The highest level. | no |" in seen["tables"]["anonymize.md costs"]
    passed, failed = seen["contract"]["contract/test_anonymize_costs.py"]
    assert (passed >= 5, failed) == (True, 0)


def test_a_privacy_model(seen):
    words = "one of 1.5 rows of a class at most has a wooden value"
    assert words in seen["anonymized"]["json"]["conditions"]
    assert words in seen["anonymized"]["words"]
    assert words in seen["anonymized"]["curator"][1]
    assert words in seen["pages"]["copy"]
    counted = "What --l counts: distinct, entropy, recursive or toy."
    assert counted in seen["commands"]["help"]["anonymize"]
    assert counted in seen["tables"]["endpoints"]
    row = "| `--l L --diversity toy` | One of L rows at most has a value. |"
    assert row in seen["tables"]["anonymize.md criteria"]
    passed, failed = seen["contract"]["contract/test_anonymize_models.py"]
    assert (passed >= 6, failed) == (True, 0)


def test_a_scalar_function(tmp_path):
    """One row each: parsed, bound, bounded, sealed, run by DuckDB and by Python, and in the docs."""
    rows = [(number, number % 10) for number in range(0, 1_000_000, 9973)]
    lines = "".join(f"{x},{s}\n" for x, s in rows)
    (tmp_path / "numbers.csv").write_text("x,s\n" + lines)
    (tmp_path / "discreet.toml").write_text(NUMBERS)
    command = [sys.executable, "-c", SCALARS, str(tmp_path / "discreet.toml"), str(SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    large, small, after, refused, table = json.loads(done.stdout)

    def expected(values):
        return [sum(value.bit_count() for value in values), 3 * sum(values)]

    assert list(map(int, large[0])) == expected([x for x, _ in rows])
    assert list(map(int, small[0])) == expected([s for _, s in rows])
    assert list(map(int, after[0])) == [3 * len(rows), len(rows).bit_count()]
    assert refused == "function"
    with pytest.raises(Unfit):  # here the row was not added, and the kernel does not know the name
        value_of(Apply("bit_count", (Constant(1),)), {})
    assert "`BIT_COUNT(x)`" in table
    assert "`TRIPLE(x)`" in table.splitlines()[2], "it works over any number of values"

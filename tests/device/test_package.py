"""The device as a package that others install: what its package.json names is all it needs, and its README works."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import MODULE, run_node

from discreet.survey.device import Donation
from discreet.survey.donation_checks import DonationCheck
from discreet.survey.plan import SurveyPlan
from discreet.survey.specification import survey_of

PACKAGE = json.loads((MODULE / "package.json").read_text(encoding="utf-8"))
STATED = {"title": "t", "epsilon": "2", "questions": {"smokes": {"kind": "yes-no"}}}
PLAN = SurveyPlan.of(survey_of(STATED, name="smoking"), nonce="00")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what happens where the package was installed: only the files that it names are there."""
    folder = tmp_path_factory.mktemp("app")
    installed = folder / "node_modules" / PACKAGE["name"]
    installed.mkdir(parents=True)
    for pattern in [*PACKAGE["files"], "package.json"]:
        for file in MODULE.glob(pattern):
            shutil.copy(file, installed)
    readme = (installed / "README.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```js\n(.*?)```", readme, re.DOTALL)
    document = PLAN.document.decode()
    lie = document.replace(str(PLAN.choices[0].randomizer.keep), str(2**32 - 5))
    assert lie != document
    given = {"folder": str(folder), "document": document, "lie": lie, "snippet": snippet}
    return run_node("embed.mjs", given)


def test_the_readme_s_example_sends_the_donation_and_nothing_else(found):
    document, sent = found["example"]["log"]
    assert (document["method"], document["address"]) == ("GET", "/api/v1/surveys/smoking/document")
    assert (sent["method"], sent["address"]) == ("POST", "/api/v1/surveys/smoking/reports")
    assert {document["credentials"], sent["credentials"]} == {"omit"}
    body = bytes.fromhex(sent["body"])
    assert isinstance(DonationCheck(PLAN).from_cbor(body), Donation)
    assert found["example"]["kept"] == ['{"done":1,"pending":[]}']


def test_a_network_that_fails_loses_nothing_and_sends_the_same_bytes(found):
    assert found["failing"]["found"] == ["no network", "not taken", True, False]
    assert len(found["failing"]["bodies"]) == 3
    assert len(set(found["failing"]["bodies"])) == 1
    assert found["failing"]["again"] is None, "it was answered here"
    assert found["failing"]["other"], "somebody else may answer"
    assert found["failing"]["answered"] == 0, "forgotten"


def test_a_survey_that_is_closed_is_not_asked_again(found):
    assert found["closed"]["found"] == ["not taken", False]
    assert len(found["closed"]["bodies"]) == 1


def test_what_is_no_survey_or_breaks_its_promise_is_never_answered(found):
    assert found["missing"] == "not taken"
    assert found["broken"] == "broken"
    assert found["afterLie"] == ["GET"]


def test_the_package_depends_on_nothing_and_says_what_it_is():
    assert PACKAGE["dependencies"] == {}
    assert PACKAGE["license"] == "Apache-2.0"
    for place in PACKAGE["exports"].values():
        assert (MODULE / place).is_file()
    imports = [
        name
        for file in MODULE.glob("*.js")
        for name in re.findall(r'from "([^"]+)"', file.read_text(encoding="utf-8"))
    ]
    assert imports
    assert all(name.startswith("./") for name in imports)

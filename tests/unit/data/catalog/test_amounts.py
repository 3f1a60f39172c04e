import tomllib
from decimal import Decimal

import pytest

from discreet.data.catalog.edits import with_section, with_settings, with_share, with_totals
from discreet.errors import CatalogError

TEXT = """# top
[datasets.town]   # the town
epsilon = 1.0     # chosen by the council
neighbours = "add-remove"

[datasets.town.tables.people]
source = "people.csv"   # epsilon = 9 in a comment
unit = "row"

# about alice
[analysts.alice]
# inside
datasets = { town = { epsilon = 0.5, delta = 1e-9 } }

[analysts.'b c'.datasets.town]
epsilon = 1
"""


def test_an_amount_changes_in_its_place_and_nothing_else():
    new = with_settings(TEXT, ("datasets", "town"), {"epsilon": Decimal("2.5")})
    assert new == TEXT.replace("epsilon = 1.0     #", "epsilon = 2.5     #")


def test_a_missing_amount_is_added():
    new = with_settings(TEXT, ("datasets", "town"), {"delta": Decimal("1e-9")})
    assert tomllib.loads(new)["datasets"]["town"]["delta"] == 1e-9
    assert new.replace("delta = 0.000000001\n", "") == TEXT


@pytest.mark.parametrize("analyst", ["alice", "b c", "new", 'o"dd ] #'])
def test_a_share_changes_and_nothing_else(analyst):
    new = with_share(TEXT, analyst, "town", {"epsilon": Decimal("0.25")})
    wanted = tomllib.loads(TEXT)
    wanted["analysts"].setdefault(analyst, {})["datasets"] = {"town": {"epsilon": 0.25}}
    assert tomllib.loads(new) == wanted
    for comment in ("# top", "# the town", "# chosen by the council", "# about alice", "# inside"):
        assert comment in new


def test_a_share_changes_in_its_place_and_keeps_what_was_said_of_it():
    text = """[analysts.alice]   # on leave
# both of them
datasets = { town = { epsilon = 0.5 } }   # until June
# the other one
[analysts.bob]
datasets = { town = { epsilon = 1 } }
"""
    new = with_share(text, "alice", "town", {"epsilon": Decimal("0.25")})
    assert new == text.replace("0.5 }", "0.25 }")
    gone = with_share(new, "alice", "town", None)
    for comment in ("# on leave", "# both of them", "# until June", "# the other one"):
        assert comment in gone
    assert "alice" not in gone


def test_totals_are_edited_where_they_stand():
    new = with_totals(TEXT, {"epsilon": Decimal(50)})
    assert new == TEXT.replace("epsilon = 1.0     #", "epsilon = 50.0     #")
    both = with_settings(TEXT, ("datasets", "town"), {"delta": Decimal("1e-9")})
    less = with_totals(both, {"epsilon": Decimal(50), "delta": None})
    assert less == new
    for unstated in (TEXT, both.replace("\ndelta = ", "\n# delta = "), "# nothing\n"):
        with pytest.raises(CatalogError, match="does not state epsilon and delta"):
            with_totals(unstated, {"epsilon": Decimal(50), "delta": Decimal("1e-5")})


def test_a_second_share_keeps_the_first_with_its_delta():
    new = with_share(TEXT, "alice", "village", {"epsilon": Decimal(3)})
    shares = tomllib.loads(new)["analysts"]["alice"]["datasets"]
    assert shares == {"town": {"epsilon": 0.5, "delta": 1e-9}, "village": {"epsilon": 3}}


def test_the_last_share_takes_its_analyst_along():
    new = with_share(with_share(TEXT, "alice", "town", None), "b c", "town", None)
    assert "analysts" not in tomllib.loads(new)


@pytest.mark.parametrize(
    "text",
    [
        "datasets = { town = { epsilon = 1 } }\nanalysts = { alice = { datasets = { town = { epsilon = 1 } } } }\n",
        "[datasets]\ntown.epsilon = 1\n[analysts]\nalice = { datasets = { town = { epsilon = 1 } } }\n",
        "[datasets]\n[datasets.town.epsilon]\n[analysts]\nalice.datasets.town.epsilon = 1\n",
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_left_alone(text):
    with pytest.raises(CatalogError, match="by hand"):
        with_settings(text, ("datasets", "town"), {"epsilon": Decimal(2)})
    with pytest.raises(CatalogError, match="by hand"):
        with_share(text, "alice", "town", {"epsilon": Decimal(2)})


def test_a_name_in_quotes_is_the_same_name():
    text = '[datasets.town]\n"epsilon"   = 1  # agreed\n'
    new = with_settings(text, ("datasets", "town"), {"epsilon": Decimal(2)})
    assert new == "[datasets.town]\nepsilon = 2.0  # agreed\n"


def test_a_heading_inside_a_text_is_no_heading():
    text = '[datasets.town]\nnote = """\n[datasets.town]\nepsilon = 5\n"""\nepsilon = 1\n'
    with pytest.raises(CatalogError, match="by hand"):
        with_settings(text, ("datasets", "town"), {"epsilon": Decimal(2)})


def test_a_section_is_added_at_the_end():
    assert with_section("", "[a]\n") == "[a]\n"
    assert with_section("[x]\n\n\n", "[a]\n") == "[x]\n\n[a]\n"

"""An explanation says the same to people, notebooks and over the wire."""

from dataclasses import replace
from fractions import Fraction

from discreet.base.answer import Explanation
from discreet.base.bill import Bill, Spent

SMALL, NONE = Spent(Fraction("0.1"), Fraction(0)), Spent(Fraction(0), Fraction(0))
FOUND = Explanation(
    dataset="town",
    columns=("n",),
    sql="SELECT 1\nSELECT 2",
    mechanisms=("discrete Laplace, scale 10",),
    bill=Bill(
        cost=SMALL, before=NONE, after=SMALL, limit=Spent(Fraction(1), Fraction(0)), free=False
    ),
    expected_error={"n": 30.0, "<b>": None},
    region="everybody",
    notes=("a note",),
)


def test_what_is_written_reads_back():
    told = replace(FOUND, words="Odds change by at most 10%.")
    for found in (FOUND, told):
        assert Explanation.from_json(found.to_json()) == found


def test_people_read_price_noise_and_region():
    text = str(FOUND)
    for part in (
        "0.1",
        "leaving 0.9 of 1",
        "n ± 30",
        "<b> ± depends on the data",
        "everybody",
        "SELECT 2",
    ):
        assert part in text


def test_a_notebook_shows_it_escaped():
    assert "&lt;b&gt;" in FOUND._repr_html_()
    assert "<b>" not in FOUND._repr_html_()

import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import AttackSettings, Knob

KNOBS = (
    Knob("k", 5, "class size", 1, 100),
    Knob("epsilon", 1.0, "budget", 0.01, 10.0),
    Knob("method", "a", "which", choices=("a", "b")),
    Knob("columns", "x,y", "names"),
)


def test_defaults_and_kinds():
    made = AttackSettings.of(KNOBS, {"k": "7", "epsilon": 2, "columns": " zip , sex,"})
    assert made.whole("k") == 7
    assert made.number("epsilon") == 2.0
    assert made.text("method") == "a"
    assert made.words("columns") == ("zip", "sex")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 0),
        ("k", 101),
        ("k", 2.5),
        ("k", "many"),
        ("k", None),
        ("epsilon", "nan"),
        ("epsilon", float("inf")),
        ("epsilon", 0.0),
        ("method", "c"),
        ("unknown", 1),
    ],
)
def test_wrong_settings_are_refused(name, value):
    if (name, value) == ("k", None):
        assert AttackSettings.of(KNOBS, {"k": None}).whole("k") == 5  # nothing was said
        return
    with pytest.raises(InvalidInput, match=name):
        AttackSettings.of(KNOBS, {name: value})

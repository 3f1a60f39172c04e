from discreet.lab.attacks.attacks import attack_named
from discreet.server.features.lab.in_child import Lab, Shown, usual_id

SHOWN = Shown(
    "a" * 32, "linkage", {"settings": {}}, "right", "less right", "<p></p>", "One of them"
)


def test_a_durable_outcome_is_there_after_a_restart_and_others_are_not(tmp_path):
    lab = Lab(tmp_path)
    lab.keep(SHOWN, durable=True)
    other = Shown("b" * 32, *list(SHOWN.__class__.__slots__[1:5]), "")
    lab.keep(other, durable=False)
    assert lab.known("b" * 32)
    again = Lab(tmp_path)
    assert again.find("a" * 32) == SHOWN
    assert not again.known("b" * 32)


def test_broken_or_foreign_names_are_no_outcomes(tmp_path):
    lab = Lab(tmp_path)
    lab.keep(SHOWN, durable=True)
    (tmp_path / "lab" / f"{'c' * 32}.json").write_text("{", encoding="utf-8")
    for name in ("c" * 32, "../../etc/passwd", ""):
        assert not lab.known(name)


def test_each_attack_has_its_own_usual_outcome():
    assert usual_id(attack_named("linkage")) != usual_id(attack_named("differencing"))

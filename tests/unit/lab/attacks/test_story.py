from discreet.lab.attacks.attacks import Outcome, Score, private_words, score_words, story, told
from discreet.show import to_html

RIGHT = Score.of_guesses(99, 100, baseline=0.5)


def outcome(**more):
    found = {
        "attack": "differencing",
        "title": "Differencing",
        "knew": "a little",
        "released": "two <counts>",
        "did": "subtracted",
        "lesson": "Add noise.",
        "score": RIGHT,
        "private": Score(0.52, 0.5, 0.48, 0.56),
        "settings": {"people": 5, "released": ""},
    }
    return Outcome(**(found | more))


def test_a_score_is_told_beside_guessing():
    assert score_words(RIGHT).startswith("Right 99 times in 100 (95% interval 94.6 to ")
    assert score_words(RIGHT).endswith("guessing would give 50.")
    auc = Score(0.974, 0.5, 0.968, 0.979, measure="AUC")
    assert score_words(auc) == (
        "AUC 0.974 (95% interval 0.968 to 0.979); guessing would give 0.50."
    )
    other = Score(0.1, 0.0, 0.05, 0.2, measure="share of targets claimed")
    assert score_words(other).endswith("(Share of targets claimed.)")


def test_an_outcome_without_a_private_version_says_so():
    assert "no private version" in private_words(outcome(private=None))
    assert outcome(private=None).to_json()["private"] is None


def test_the_report_tells_everything_and_escapes_it():
    text = to_html(story(outcome()))
    for words in ("a little", "two &lt;counts&gt;", "subtracted", "Add noise.", "people"):
        assert words in text
    assert "<counts>" not in text


def test_the_terminal_gets_the_same_story():
    lines = told(outcome()).splitlines()
    assert lines[0] == "Differencing"
    assert any(line.startswith("Private:") for line in lines)


def test_json_follows_the_contract():
    found = outcome().to_json()
    assert found["attack"] == "differencing"
    assert {"success", "baseline", "low", "high", "private"} <= set(found)
    assert found["private"]["success"] == 0.52

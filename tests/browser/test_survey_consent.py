"""Before anybody answers, the page says what follows from epsilon, in every language: read in a real browser."""

from fractions import Fraction

import pytest
from playwright.sync_api import expect

from consent_kit import question_text, share_text
from discreet.server.features.survey.pages import LANGUAGES, words_in
from discreet.survey.plan import ConsentFacts
from respondent_kit import CONSENT, PREVIEW, every_mechanism

ONE = """title = "Smoking"
epsilon = {epsilon}
[questions.smokes]
kind = "yes-no"
"""
NOBODY = {"en": "nobody", "de": "niemand", "fr": "personne"}
"""The word for nobody of each language: it stands in the one sentence that epsilon 3 makes false."""


def toml_of(stated):
    """Return a survey as its file."""
    lines = [f'{key} = "{value}"' for key, value in stated.items() if isinstance(value, str)]
    for name, question in stated["questions"].items():
        lines.append(f"[questions.{name}]")
        lines += [f"{key} = {value!r}".replace("'", '"') for key, value in question.items()]
    return "\n".join(lines)


def expected(plan, words):
    """Return the sentences that respondents are to read, from the exact facts."""
    facts = ConsentFacts.of(plan)
    told = [question_text(each, words) for each in facts.questions]
    if len(set(told)) == 1:
        told = told[:1]
    else:
        told = [f"{q.text} {t}" for q, t in zip(plan.survey.questions, told, strict=True)]
    chance, group = words["consent"]
    return [chance, *told, words["protection"][facts.protection], group]


def in_each_language(page):
    """Yield the words of each language, the page showing them."""
    for language in (LANGUAGES[0], *LANGUAGES[1:]):
        words = words_in(language)
        if page.locator("html").get_attribute("lang") != language:
            page.click(f"text={words['name']}")
        expect(page.locator("html")).to_have_attribute("lang", language)
        yield words


def read(page):
    """Return the sentences above the two buttons."""
    return [text.replace(" ", " ") for text in page.locator(f"{CONSENT} > p").all_inner_texts()]


@pytest.mark.parametrize("epsilon", ["0.01", "1.0986", "2.999", "3", "5.999", "6", "20"])
def test_one_question_at_every_epsilon(survey, device, epsilon):
    store = survey(ONE.format(epsilon=epsilon))
    page = device(store).page
    expect(page.locator(CONSENT)).to_be_visible()
    for words in in_each_language(page):
        sentences = expected(store.plan, words)
        assert read(page)[: len(sentences)] == sentences
        shown = page.locator("#survey").inner_text().lower()
        assert (NOBODY[words["language"]] in shown) == (float(epsilon) < 3)
        assert ("hardly" in shown) == (words["language"] == "en" and float(epsilon) >= 6)


@pytest.mark.parametrize("epsilon", ["1", "13", "39", "90"])
def test_every_mechanism_says_what_its_law_is(survey, device, epsilon):
    store = survey(toml_of(every_mechanism(epsilon)))
    page = device(store).page
    expect(page.locator(CONSENT)).to_be_visible()
    for words in in_each_language(page):
        sentences = expected(store.plan, words)
        assert read(page)[: len(sentences)] == sentences


def test_a_report_is_shown_beside_the_share_of_the_truth(survey, device):
    store = survey(ONE.format(epsilon=20))
    respondent = device(store)
    respondent.begin()
    respondent.say("yes")
    respondent.look()
    text = respondent.page.locator(PREVIEW).inner_text()
    assert "Of 100 such reports more than 99.9 are the true answer." in text
    assert "opposite" not in text
    respondent.page.click("text=Watch the coin")
    expect(respondent.page.locator(PREVIEW)).to_contain_text("more than 99.9 times in 100")


def test_shares_are_rounded_up_and_never_all():
    words = words_in("en")
    for share, text in ((Fraction(1, 2), "50"), (Fraction(2, 3), "66.7"), (Fraction(1, 3), "33.4")):
        assert share_text(share, words) == text
    assert share_text(1 - Fraction(1, 2**32), words) == "more than 99.9"

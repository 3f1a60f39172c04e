"""What respondents are to read about a question before they answer, from the exact facts, in each language."""

POINT = {"en": ".", "de": ",", "fr": ","}


def share_text(share, words):
    """Return a share of 100 in the words of a language: rounded up to a tenth, and never all."""
    tenths = -(-1000 * share.numerator // share.denominator)
    if tenths == 1000:
        return words["more_than"].format(number=almost_all(words))
    whole, rest = divmod(tenths, 10)
    return f"{whole}{POINT[words['language']]}{rest}" if rest else str(whole)


def almost_all(words):
    """Return the largest share that is told as a number."""
    return f"99{POINT[words['language']]}9"


def question_text(facts, words):
    """Return the sentences about one question."""
    said = [words["truth"].format(share=share_text(facts.truth, words))] if facts.truth else []
    if facts.nearly_certain and facts.truth != facts.sure:
        said.append(words["nearly_certain"].format(share=almost_all(words)))
    elif facts.truth != facts.sure:
        said.append(words["sure"].format(share=share_text(facts.sure, words)))
    return " ".join(said)

"""An outcome in words and as a document: what was known, what was released, how often it was right."""

from __future__ import annotations

from discreet.attack.attacks import attack_named
from discreet.attack.outcome import RIGHT_GUESSES, Outcome, Score
from discreet.report.blocks import Grid, Paragraph, Section
from discreet.report.document import Document


def score_words(score: Score) -> str:
    """Return the score against its baseline in one sentence.

    >>> score_words(Score(0.99, 0.5, 0.98, 0.995))
    'Right 99 times in 100 (95% interval 98.0 to 99.5); guessing would give 50.'
    """
    if "AUC" in score.measure:
        return (
            f"AUC {score.success:.3f} (95% interval {score.low:.3f} to {score.high:.3f}); "
            f"guessing would give {score.baseline:.2f}."
        )
    said = (
        f"{_times(score.success)} times in 100 (95% interval {score.low * 100:.1f} to "
        f"{score.high * 100:.1f}); guessing would give {_times(score.baseline)}."
    )
    if score.measure == RIGHT_GUESSES:
        return f"Right {said}"
    return f"{said} ({score.measure[0].upper()}{score.measure[1:].rstrip('.')}.)"


def _times(share: float) -> str:
    """Return a share of 100 without digits that mean nothing."""
    return f"{share * 100:.1f}".removesuffix(".0")


def private_words(outcome: Outcome) -> str:
    """Return how the same attack fared against the private version."""
    if outcome.private is None:
        return "There is no private version of this release to attack."
    said = score_words(outcome.private)
    return f"{said} {outcome.private_words}".strip()


def story(outcome: Outcome) -> Document:
    """Return the report of an attack."""
    lead = (
        Paragraph(f"The adversary knew: {outcome.knew}"),
        Paragraph(f"What was released: {outcome.released}"),
        Paragraph(f"The attack: {outcome.did}"),
    )
    scores = Section(
        "How often it was right",
        (
            Paragraph(f"On this release: {score_words(outcome.score)}"),
            Paragraph(f"On the private version: {private_words(outcome)}"),
            Paragraph(outcome.lesson),
        ),
    )
    sections = [Section("The story", lead), scores]
    if outcome.blocks:
        sections.append(Section("The picture", outcome.blocks))
    sections.append(Section("Settings", (_settings(outcome),)))
    return Document(outcome.title, f"discreet attack {outcome.attack}", None, tuple(sections))


def _settings(outcome: Outcome) -> Grid | Paragraph:
    """Return what the run was given, not what it could have been given."""
    defaults = {knob.name: knob.default for knob in attack_named(outcome.attack).knobs}
    rows = [(n, value) for n, value in outcome.settings.items() if value != defaults.get(n)]
    if not rows:
        return Paragraph("Every setting at its default.")
    return Grid.of(("setting", "value"), rows, "Every other setting at its default.")


def told(outcome: Outcome) -> str:
    """Return an outcome for a terminal."""
    lines = [
        outcome.title,
        f"Knew:     {outcome.knew}",
        f"Released: {outcome.released}",
        f"Did:      {outcome.did}",
        f"Result:   {score_words(outcome.score)}",
        f"Private:  {private_words(outcome)}",
        outcome.lesson,
    ]
    return "\n".join(lines)

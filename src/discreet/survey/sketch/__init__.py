"""Sketches for answers from an open vocabulary: hashed words, randomised like the other answers.

They stand on `randomizers`.

Imported by: course, survey, survey/estimate, survey/spec.
"""

"""Sketches for answers from an open vocabulary: hashed words, randomised like the other answers.

Everything in `survey` may import them; they stand on `randomizers`.
"""

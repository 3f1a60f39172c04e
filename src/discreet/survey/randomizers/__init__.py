"""Randomizers of one answer: each turns a value and random bytes into a report, by whole numbers only.

Among them are sketches for answers from an open vocabulary: hashed words, randomised like the other answers.
They know nothing of surveys, files or networks.

Imported by: lab, survey.
"""

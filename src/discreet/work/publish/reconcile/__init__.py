"""Reconciling: noisy numbers that contradict each other become numbers that add up.

Answers in hand by any equations (answers, constrained_least_squares), and the tables of a release on their grid
of cells (problem, least_squares, solve). It takes numbers that are already noisy, so nothing here has to do with privacy.

Imported by: cli, discreet, lab, work/publish.
"""

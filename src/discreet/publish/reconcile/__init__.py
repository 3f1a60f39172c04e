"""Reconciling: noisy numbers that contradict each other become numbers that add up.

Answers in hand by any equations (answers, equations, nearest), and the tables of a release on their grid of cells
(solve, tree, crossed, whole). It takes numbers that are already noisy, so nothing here has to do with privacy.

Imported by: attack, cli, course, discreet, publish, publish/assemble.
"""

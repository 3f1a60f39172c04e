"""Reconciling: noisy numbers that contradict each other become numbers that add up.

Takes numbers that are already noisy, so nothing here has to do with privacy; publish/ and above
import it.
"""

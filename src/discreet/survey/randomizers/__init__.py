"""Randomizers of one answer: each turns a value and random bytes into a report, by whole numbers only.

Everything in `survey` may import them; they know nothing of surveys, files or networks.
"""

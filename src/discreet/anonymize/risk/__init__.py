"""The risks that remain: intruders, uniqueness in the population, sizes of classes.

Imported by: anonymize, attack.
"""

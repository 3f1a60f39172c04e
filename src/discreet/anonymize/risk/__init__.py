"""The risks that remain: intruders, uniqueness in the population, sizes of classes.

anonymize/ and attack/ import from here.
"""

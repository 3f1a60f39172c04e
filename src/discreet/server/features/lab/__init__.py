"""The attack lab: attacks as jobs, and their outcomes.

Only server/app imports from here.
"""

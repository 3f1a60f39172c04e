"""A question's way from its text to its answer.

Imported by: curator, lab, measure, work.
"""

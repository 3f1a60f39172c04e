"""The release pipeline: request, plan, price, charge, read, noise, answer.

Imported by: curator, measure, work.
"""

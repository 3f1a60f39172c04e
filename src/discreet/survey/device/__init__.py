"""The respondent's side: a report for each wave, from fresh coins, and the donation that carries it.

The collector's side takes the donation's bytes from here, and nothing else.

Imported by: survey, survey/collect.
"""

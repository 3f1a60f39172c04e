"""The respondent's side: a secret, memoised reports, a small ledger of what was told, and the donation.

The collector's side takes the donation's bytes from here, and nothing else.

Imported by: attack, survey, survey/collect.
"""

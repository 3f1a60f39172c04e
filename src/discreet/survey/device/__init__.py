"""The respondent's side: a secret, memoised reports, a small ledger of what was told, and the donation.

Nothing here is imported by the collector's side except the donation's bytes.
"""

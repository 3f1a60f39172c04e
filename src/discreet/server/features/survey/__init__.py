"""Surveys: the collector of reports, the respondent's page, the owner's pages and the projector's.

Only the server finds it, through its `pages`.
"""

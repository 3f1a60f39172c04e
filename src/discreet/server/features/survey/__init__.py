"""Surveys: the collector of reports, the respondent's page, the owner's pages and the projector's."""

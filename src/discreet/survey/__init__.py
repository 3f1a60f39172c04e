"""Surveys whose answers are randomised on the respondent's own device, and what can be learnt from them.

`specification` is SURVEY.toml, and `plan` what a device gets of it. `randomizers` turn an answer into a report,
`device` gives one report for each wave, `donation_checks` takes it or refuses it, `store` and `columns` keep
reports, `results` reads them.

Imported by: cli, discreet, lab, server.
"""

from __future__ import annotations

from discreet.survey.command import (
    begin_survey,
    begin_wave,
    close_survey,
    estimate_survey,
    rehearse_survey,
)
from discreet.survey.device import Device, Donation
from discreet.survey.plan import SurveyPlan
from discreet.survey.results import EstimateRequest
from discreet.survey.specification import read_survey
from discreet.survey.store import SurveyStore

__all__ = [
    "Device",
    "Donation",
    "EstimateRequest",
    "SurveyPlan",
    "SurveyStore",
    "begin_survey",
    "begin_wave",
    "close_survey",
    "estimate_survey",
    "read_survey",
    "rehearse_survey",
]

"""Surveys whose answers are randomised on the respondent's own device, and what can be learnt from them.

`randomizers` and `sketch` turn an answer into a report, `device` gives one report for each wave, `collect` keeps
reports, `estimate` reads them.

Imported by: attack, cli, course, discreet, server.
"""

from __future__ import annotations

from discreet.survey.collect.store import SurveyStore
from discreet.survey.command import begin_survey, begin_wave, close_survey, estimate_survey
from discreet.survey.device.device import Device
from discreet.survey.device.donation import Donation
from discreet.survey.estimate.request import EstimateRequest
from discreet.survey.rehearse import rehearse_survey
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import read_survey

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

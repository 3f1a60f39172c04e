"""Surveys whose answers are randomised on the respondent's own device, and what can be learnt from them.

`randomizers` and `sketch` turn an answer into a report, `device` holds the secret and the limits,
`collect` keeps reports, `estimate` reads them. Attacks, the command line and the server may import this.
"""

from __future__ import annotations

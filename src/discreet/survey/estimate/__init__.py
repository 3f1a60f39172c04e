"""What noisy reports say about the respondents: unbiased shares and means with intervals.

Statistics on what is noisy already: no guarantee hangs on this folder.

Imported by: cli, server, survey, survey/collect.
"""

"""What a survey asks: SURVEY.toml, the mechanism of each question, and the document a device is given.

Read by the device, the collector and the estimates alike.

Imported by: server, survey, survey/collect, survey/device, survey/estimate.
"""

"""Private learners: classifiers, regressors, selections and recommenders that pay before they look.

Front ends (api, cli, server) and attack may import from here.
"""

"""Models that add up one number for each feature: logistic regression, naive Bayes, ridge.

Only learn/ itself imports from here.
"""

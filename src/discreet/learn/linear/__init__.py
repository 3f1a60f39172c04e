"""Models that add up one number for each feature: logistic regression, naive Bayes, ridge.

Imported by: attack, learn, learn/sgd, learn/trees, learn/unsupervised.
"""

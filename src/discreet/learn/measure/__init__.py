"""What a learner may measure: sealed codes of features and target, noisy counts and sums of residuals.

Learners see rows only through here.

Imported by: attack, learn, learn/linear, learn/recommend, learn/scored, learn/sgd, learn/trees,
learn/unsupervised.
"""

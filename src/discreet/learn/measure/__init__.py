"""What a learner may measure: sealed codes of features and target, noisy counts and sums of residuals.

Learners see rows only through here.

Imported by: attack, learn, learn/evaluation, learn/linear, learn/recommend, learn/sgd, learn/trees,
learn/unsupervised.
"""

"""What a learner may measure: sealed codes of features and target, noisy counts and sums of residuals.

Learners see rows only through here.
"""

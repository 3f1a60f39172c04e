"""The lesson 'fairness': whom a private model serves."""

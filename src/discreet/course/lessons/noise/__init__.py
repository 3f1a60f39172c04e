"""The lesson 'noise': Laplace and Gaussian noise."""

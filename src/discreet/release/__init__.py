"""The release pipeline: request, plan, price, charge, read, noise, answer."""

"""The corridor: request, plan, price, charge, read, noise, answer."""

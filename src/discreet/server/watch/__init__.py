"""What an operator watches: health, metrics, budgets that come to their end."""

"""The lesson 'composition': how losses add up, and who pays."""

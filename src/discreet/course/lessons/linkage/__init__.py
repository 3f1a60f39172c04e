"""The lesson 'linkage': why taking out names is not enough."""

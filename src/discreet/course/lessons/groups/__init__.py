"""The lesson 'groups': group privacy."""

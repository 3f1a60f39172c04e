"""The lesson 'refusing': why refusing fails."""

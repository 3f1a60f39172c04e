"""Superset without its web server: only what it needs to write and run the SQL of charts."""

import os

SECRET_KEY = "not a secret: nothing is kept" * 2
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['HOME']}/superset.db"
_NONE = {"CACHE_TYPE": "NullCache"}
CACHE_CONFIG = DATA_CACHE_CONFIG = _NONE
FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = _NONE

"""Made-up rows and declarations for each collection of statements; no row of anybody's is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from discreet.lab.town import town

BUDGET = "1000000000000000"
"""So large that no collection ever spends it."""


def build(name: str, folder: Path) -> Path:
    """Return the discreet.toml of the world that a collection is asked in."""
    return WORLDS[name](folder)


def truth(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a plain DuckDB with a view of each Parquet file."""
    database = duckdb.connect()
    for path in sorted(folder.glob("*.parquet")):
        schema, _, table = path.stem.rpartition("__")
        if schema:
            database.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        name = f'{schema}."{table}"' if schema else f'"{table}"'
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM '{path}'")
    return database


def _town(folder: Path) -> Path:
    made = town(5000, folder=folder, tables=("people", "visits"))
    text = made.toml.read_text(encoding="utf-8").replace("epsilon = 1.0", f"epsilon = {BUDGET}")
    # More than anybody has: what max_rows leaves out is set aside.
    text = text.replace("max_rows = 20\n", "max_rows = 60\n")
    made.toml.write_text(text, encoding="utf-8")
    return made.toml


def _written(folder: Path, rows: dict[str, str], declared: str) -> Path:
    """Return a discreet.toml beside Parquet files that plain SQL makes up."""
    with duckdb.connect() as database:
        for name, sql in rows.items():
            database.execute(f"COPY ({sql}) TO '{folder}/{name}.parquet' (FORMAT parquet)")
    path = folder / "discreet.toml"
    path.write_text(declared.replace("BUDGET", BUDGET), encoding="utf-8")
    return path


_PICK = "CAST(hash(i, '{salt}') % {many} AS INTEGER)"


def _pick(salt: str, many: int) -> str:
    return _PICK.format(salt=salt, many=many)


_PHRASES = "['', '', '', 'weather', 'tickets', 'cheap shoes', 'maps', 'news today', 'recipes']"


def _page(salt: str) -> str:
    sites = "['http://a.example/', 'http://www.google.example/s', 'http://mail.google.example/']"
    return f"(({sites})[1 + {_pick(salt, 3)}] || {_pick(salt + 'n', 400)})"


# Half of the hits on two days, so that single minutes have as many people as in a large file.
_MOMENT = f"""(TIMESTAMP '2013-07-01 00:00:00' + to_seconds(CASE WHEN {_pick("busy", 2)} = 0
 THEN 1123200 + {_pick("s2", 172800)} ELSE {_pick("s", 2678400)} END))"""

_HITS = f"""
SELECT i AS WatchID, CAST(hash(i % 6000, 'u') % 9007199254740991 AS BIGINT) AS UserID,
 ({_PHRASES})[1 + {_pick("p", 9)}] AS SearchPhrase,
 {_page("url")} AS URL, {_page("ref")} AS Referer,
 (['Home', 'Google search', 'Shop', 'Map'])[1 + {_pick("t", 4)}] AS Title,
 (['', '', 'one', 'two', 'three'])[1 + {_pick("m", 5)}] AS MobilePhoneModel,
 {_pick("mp", 6)} AS MobilePhone, {_pick("ad", 4)} * {_pick("adz", 2)} AS AdvEngineID,
 {_pick("se", 4)} AS SearchEngineID, {_pick("tr", 8)} - 1 AS TraficSourceID,
 {_pick("reg", 40)} AS RegionID, CASE WHEN {_pick("c", 10)} < 9 THEN 62 ELSE {_pick("ci", 90)} END
 AS CounterID, 800 + 80 * {_pick("w", 15)} AS ResolutionWidth,
 {_pick("ip", 30)} * 100000 AS ClientIP, CAST({_pick("r", 10)} = 0 AS INTEGER) AS IsRefresh,
 CAST({_pick("l", 3)} = 0 AS INTEGER) AS IsLink, CAST({_pick("d", 9)} = 0 AS INTEGER) AS IsDownload,
 CAST({_pick("dc", 9)} = 0 AS INTEGER) AS DontCountHits,
 CASE WHEN {_pick("uh", 2)} = 0 THEN 2868770270353813622 ELSE {_pick("uhx", 5)} END AS URLHash,
 CASE WHEN {_pick("rh", 2)} = 0 THEN 3594120000172545465 ELSE {_pick("rhx", 5)} END AS RefererHash,
 {_pick("ww", 12)} * 100 AS WindowClientWidth, {_pick("wh", 10)} * 100 AS WindowClientHeight,
 {_MOMENT} AS EventTime, CAST({_MOMENT} AS DATE) AS EventDate
FROM range(60000) t(i)
"""

_CLICKBENCH = """
[datasets.web]
epsilon = BUDGET
delta = 1e-6
[datasets.web.tables.hits]
source = "hits.parquet"
unit = "UserID"
max_rows = 30
[datasets.web.tables.hits.columns]
UserID = { type = "integer", lower = 0, upper = 9007199254740991 }
WatchID = { type = "integer", lower = 0, upper = 1000000000000 }
SearchPhrase = { type = "text" }
URL = { type = "text" }
Referer = { type = "text" }
Title = { type = "text" }
MobilePhoneModel = { type = "text" }
MobilePhone = { type = "integer", lower = 0, upper = 1000 }
AdvEngineID = { type = "integer", lower = 0, upper = 100 }
SearchEngineID = { type = "integer", lower = 0, upper = 100 }
TraficSourceID = { type = "integer", lower = -1, upper = 10 }
RegionID = { type = "integer", lower = 0, upper = 100000 }
CounterID = { type = "integer", lower = 0, upper = 1000000 }
ResolutionWidth = { type = "integer", lower = 0, upper = 4096 }
ClientIP = { type = "integer", lower = -2147483648, upper = 2147483647 }
IsRefresh = { type = "integer", lower = 0, upper = 1 }
IsLink = { type = "integer", lower = 0, upper = 1 }
IsDownload = { type = "integer", lower = 0, upper = 1 }
DontCountHits = { type = "integer", lower = 0, upper = 1 }
URLHash = { type = "text" }
RefererHash = { type = "text" }
WindowClientWidth = { type = "integer", lower = 0, upper = 10000 }
WindowClientHeight = { type = "integer", lower = 0, upper = 10000 }
EventTime = { type = "timestamp", lower = 2013-07-01T00:00:00, upper = 2013-07-31T23:59:59 }
EventDate = { type = "date", lower = 2013-07-01, upper = 2013-07-31 }
"""

_PUMS = f"""
SELECT i AS pid, {_pick("age", 105)} AS age, {_pick("sex", 2)} AS sex, 1 + {_pick("e", 16)} AS educ,
 {_pick("race", 6)} AS race, {_pick("inc", 20)} * 1000 AS income, {_pick("mar", 2)} = 1 AS married
FROM range(1, 12001) t(i)
"""
_CRASHES = f"""
SELECT 1 + {_pick("dev", 600)} AS DeviceID, {_pick("rf", 2)} = 0 AS Refurbished,
 25.0 + {_pick("t", 400)} * 0.1 AS Temperature, {_pick("cr", 11)} AS Crashes,
 (['B1', 'B2', 'B3', 'B4'])[1 + {_pick("b", 4)}] AS Building,
 (['LATAM', 'EMEA', 'APAC', 'NA'])[1 + {_pick("rg", 4)}] AS Region
FROM range(1500) t(i)
"""
_CENSUS_DEVICES = f"""
SELECT i AS DeviceID, (['Ox', 'Yak', 'Zebu'])[1 + {_pick("o", 3)}] AS OEM,
 (['4', '8'])[1 + {_pick("mem", 2)}] AS Memory, 100 + {_pick("disk", 900)} AS Disk
FROM range(1, 601) t(i)
"""
_ROLLOUTS = f"""
SELECT i AS DeviceID, {_pick("ro", 50)} AS RolloutID, {_pick("tg", 4)} AS TrialGroup
FROM range(1, 601) t(i)
"""
_FEATURES = f"""
SELECT i AS ID, 1 + {_pick("st", 45)} AS Store, {_pick("tp", 10)} AS Temperature,
 2.0 + {_pick("f", 20)} * 0.1 AS Fuel_Price, {_pick("h", 2)} = 0 AS IsHoliday,
 DATE '2010-01-01' + {_pick("d", 60)} AS Date FROM range(1, 3001) t(i)
"""
_SALES = f"""
SELECT i AS ID, 1 + {_pick("st2", 45)} AS Store, {_pick("ws", 1000)} AS Weekly_Sales,
 {_pick("h2", 2)} = 0 AS IsHoliday, DATE '2010-01-01' + {_pick("d2", 60)} AS Date
FROM range(1, 3001) t(i)
"""
_REDDIT = f"""
SELECT 1 + {_pick("rd", 500)} AS user_id, (['a b', 'b c', 'c d', 'd e'])[1 + {_pick("ng", 4)}] AS ngram
FROM range(3000) t(i)
"""

_SMARTNOISE = """
[datasets.PUMS]
epsilon = BUDGET
delta = 1e-6
[datasets.PUMS.tables.PUMS]
source = "PUMS__PUMS.parquet"
unit = "pid"
max_rows = 1
[datasets.PUMS.tables.PUMS.columns]
pid = { type = "identifier" }
age = { type = "integer", lower = 0, upper = 104 }
sex = { type = "category", values = ["0", "1"] }
educ = { type = "category", values = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"] }
race = { type = "category", values = ["0", "1", "2", "3", "4", "5"] }
income = { type = "integer", lower = 0, upper = 500000 }
married = { type = "boolean" }
[datasets.Telemetry]
epsilon = BUDGET
delta = 1e-6
[datasets.Telemetry.tables.Crashes]
source = "Telemetry__Crashes.parquet"
unit = "DeviceID"
max_rows = 30
[datasets.Telemetry.tables.Crashes.columns]
DeviceID = { type = "identifier" }
Refurbished = { type = "boolean" }
Temperature = { type = "number", lower = 25, upper = 65, step = 0.1 }
Crashes = { type = "integer", lower = 0, upper = 10 }
Building = { type = "category", values = ["B1", "B2", "B3", "B4"] }
Region = { type = "category", values = ["LATAM", "EMEA", "APAC", "NA"] }
[datasets.Telemetry.tables.Census]
source = "Telemetry__Census.parquet"
unit = "DeviceID"
max_rows = 1
[datasets.Telemetry.tables.Census.columns]
DeviceID = { type = "identifier" }
OEM = { type = "category", values = ["Ox", "Yak", "Zebu"] }
Memory = { type = "category", values = ["4", "8"] }
Disk = { type = "integer", lower = 100, upper = 10000 }
[datasets.Telemetry.tables.Rollouts]
source = "Telemetry__Rollouts.parquet"
unit = "DeviceID"
max_rows = 1
[datasets.Telemetry.tables.Rollouts.columns]
DeviceID = { type = "identifier" }
RolloutID = { type = "integer", lower = 0, upper = 1000 }
TrialGroup = { type = "integer", lower = 0, upper = 10 }
[datasets.shops]
epsilon = BUDGET
delta = 1e-6
[datasets.shops.tables.features]
source = "features.parquet"
unit = "ID"
max_rows = 1
[datasets.shops.tables.features.columns]
ID = { type = "identifier" }
Store = { type = "integer", lower = 1, upper = 45 }
Temperature = { type = "integer", lower = 0, upper = 9 }
Fuel_Price = { type = "number", lower = 0, upper = 10, step = 0.1 }
IsHoliday = { type = "boolean" }
Date = { type = "date", lower = 2010-01-01, upper = 2010-12-31 }
[datasets.shops.tables.sales]
source = "sales.parquet"
unit = "ID"
max_rows = 1
[datasets.shops.tables.sales.columns]
ID = { type = "identifier" }
Store = { type = "integer", lower = 1, upper = 45 }
Weekly_Sales = { type = "integer", lower = 0, upper = 1000 }
IsHoliday = { type = "boolean" }
Date = { type = "date", lower = 2010-01-01, upper = 2010-12-31 }
[datasets.reddit]
epsilon = BUDGET
delta = 1e-6
[datasets.reddit.tables.reddit]
source = "reddit__reddit.parquet"
unit = "user_id"
max_rows = 30
[datasets.reddit.tables.reddit.columns]
user_id = { type = "identifier" }
ngram = { type = "text" }
"""

_CENSUS = f"""
SELECT 17 + {_pick("age", 73)} AS age, 1 + {_pick("en", 16)} AS education_num,
 (['Male', 'Female'])[1 + {_pick("sx", 2)}] AS sex,
 (['Divorced', 'Married', 'Never-married', 'Widowed'])[1 + {_pick("ms", 4)}] AS marital_status,
 (['Bachelors', 'Masters', 'HS-grad', 'Doctorate'])[1 + {_pick("ed", 4)}] AS education,
 (['Private', 'State-gov', 'Never-worked'])[1 + {_pick("wc", 3)}] AS workclass,
 (['Cuba', 'Italy', 'England', 'United-States'])[1 + {_pick("nc", 4)}] AS native_country,
 {_pick("cl", 40)} * 100 AS capital_loss, 10000 + {_pick("fw", 900000)} AS fnlwgt
FROM range(4000) t(i)
"""
_QREW = """
[datasets.extract]
epsilon = BUDGET
delta = 1e-6
[datasets.extract.tables.census]
source = "census.parquet"
unit = "row"
[datasets.extract.tables.census.columns]
age = { type = "integer", lower = 17, upper = 89 }
education_num = { type = "integer", lower = 1, upper = 16 }
sex = { type = "category", values = ["Female", "Male"] }
marital_status = { type = "category", values = ["Divorced", "Married", "Never-married", "Widowed"] }
education = { type = "category", values = ["Bachelors", "Masters", "HS-grad", "Doctorate"] }
workclass = { type = "category", values = ["Private", "State-gov", "Never-worked"] }
native_country = { type = "category", values = ["Cuba", "Italy", "England", "United-States", "Holand-Netherlands"] }
capital_loss = { type = "integer", lower = 0, upper = 5000 }
fnlwgt = { type = "integer", lower = 0, upper = 2000000 }
"""


def _smartnoise(folder: Path) -> Path:
    rows = {
        "PUMS__PUMS": _PUMS,
        "Telemetry__Crashes": _CRASHES,
        "Telemetry__Census": _CENSUS_DEVICES,
        "Telemetry__Rollouts": _ROLLOUTS,
        "features": _FEATURES,
        "sales": _SALES,
        "reddit__reddit": _REDDIT,
    }
    return _written(folder, rows, _SMARTNOISE)


WORLDS: dict[str, Callable[[Path], Path]] = {
    "everyday": _town,
    "more": _town,
    "clickbench": lambda folder: _written(folder, {"hits": _HITS}, _CLICKBENCH),
    "smartnoise": _smartnoise,
    "qrlew": lambda folder: _written(folder, {"census": _CENSUS}, _QREW),
}

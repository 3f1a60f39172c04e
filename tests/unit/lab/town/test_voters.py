from __future__ import annotations

import duckdb
import numpy as np

from discreet.lab.town import parameters as p
from discreet.lab.town.people import voter_batch, zip_values


def test_roll_holds_the_stated_share_of_adults_only(made, assert_mean):
    roll = voter_batch(7, 0, made, zip_values(250_000))
    ids = roll["person_id"].to_numpy()
    assert len(set(ids)) == len(ids)
    assert made.age[ids - 1].min() == 18
    on_it = np.isin(made.person_id[made.age >= 18], ids)
    assert_mean(on_it, p.VOTER_SHARE, wrong=[0.70, 0.74])
    assert not np.array_equal(ids, np.sort(ids))


def test_roll_repeats_the_key_of_the_person(made, assert_mean):
    roll = voter_batch(7, 0, made, zip_values(250_000))
    who = roll["person_id"].to_numpy() - 1
    assert np.array_equal(roll["sex"].indices.to_numpy(), made.sex[who])
    born = roll["birth_date"].to_numpy(zero_copy_only=False).astype("datetime64[D]").astype(int)
    assert np.array_equal(born, made.birth_day[who])
    moved = roll["zip"].indices.to_numpy() != made.zip_code[who]
    zips = len(zip_values(250_000))
    assert_mean(moved, p.VOTER_OLD_ZIP_SHARE * (1 - 1 / zips), wrong=[0.0, 0.03])


def test_names_and_addresses_look_like_names_and_addresses(small_town):
    roll = small_town.load("voters")
    assert roll.column_names == ["name", "birth_date", "sex", "zip", "address"]
    first = roll.slice(0, 1).to_pylist()[0]
    assert len(first["name"].split()) == 2
    assert first["address"].split()[0].isdigit()


def test_linkage_works_as_welds_did(small_town):
    links = f"""
        SELECT COUNT(*) AS tried, COUNT(*) FILTER (k.person_id = p.person_id) AS correct
        FROM (SELECT birth_date, sex, zip, ANY_VALUE(person_id) AS person_id
              FROM '{small_town.tables["people"]}' GROUP BY ALL HAVING COUNT(*) = 1) AS p
        JOIN (SELECT * FROM '{small_town.tables["voters"]}'
              POSITIONAL JOIN '{small_town.tables["voters_key"]}') AS k
        USING (birth_date, sex, zip)"""
    tried, correct = duckdb.sql(links).fetchall()[0]
    assert tried > 0.6 * small_town.load("voters").num_rows
    # All are right but the few who moved onto the key of somebody else.
    assert 0.98 < correct / tried <= 1

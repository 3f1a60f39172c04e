"""A hospital's own file, from upload to a right answer, as its owner does it in a browser."""

from playwright.sync_api import expect

from messy_kit import hospital


def test_from_a_messy_file_to_a_right_answer(small, visit, tmp_path):
    truth = hospital(tmp_path / "hospital.csv")
    page = visit(small, "/data")
    page.set_input_files("#file", tmp_path / "hospital.csv")
    page.click("#bring button")
    page.wait_for_selector("#review:not([hidden])")
    expect(page.locator("#who-warnings")).to_contain_text("1,478 different values in 3,060 rows")
    page.check("input[name=who][value=column]")
    for name in ("patient_name", "email", "remarks"):
        expect(page.locator(f'[data-column="{name}"] input[value=hide]')).to_be_checked()
    expect(page.locator('[data-column="cost"] .loss')).to_contain_text("filled cells are read")
    expect(page.locator("#lost-words")).to_have_text("No declaration loses a filled cell.")

    # Take the spelling away, and what would be lost is said with examples.
    trim = page.locator('[data-column="department"] .spelling').get_by_label("spaces around")
    trim.uncheck()
    loss = page.locator('[data-column="department"] .loss')
    expect(loss).to_contain_text("filled cells would count as missing")
    expect(loss).to_contain_text("'Cardiology '")
    trim.check()
    expect(loss).to_contain_text("filled cells are read")

    page.click("#accept-safe")
    page.fill("#max-rows", "9")
    page.fill("#limit", "9")
    page.click("#add-analyst")
    page.locator(".share input").first.fill("alice")
    page.locator(".share input").nth(1).fill("9")
    page.locator(".share input").nth(1).blur()
    expect(page.locator("#confirm")).to_be_enabled()
    page.click("#confirm")
    page.wait_for_url("**/ask?sql=*")
    page.goto(small.address + "/data")
    kept = page.locator('.manage[data-dataset="hospital"]')
    kept.locator("summary").first.click()
    kept.locator(".edit").click()
    expect(kept.locator('[data-column="cost"] .loss')).to_contain_text("filled cells are read")
    answer = page.request.post(
        small.address + "/api/v1/query",
        data={"sql": "SELECT sex, COUNT(*) AS n FROM hospital GROUP BY sex", "epsilon": 8},
        headers={"Authorization": f"Bearer {small.analyst}"},
    ).json()
    found = {row[0]: row[1] for row in answer["rows"]}
    for sex, count in truth.by_sex.items():
        # 24 scales of its noise: a chance of 1e-10. A spelling that is not read moves hundreds.
        assert abs(found[sex] - count) <= 8 * answer["error95"][0][1]

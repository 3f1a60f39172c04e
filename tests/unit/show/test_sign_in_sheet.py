"""The sheet of a class: one card each, nothing loaded, no text taken for markup."""

from discreet.show.qr import SheetCard, qr_path, sign_in_sheet


def test_every_card_has_its_name_its_link_and_the_code_of_that_link():
    links = {f"s{i}": f"https://a.example/ask?token=dsc_{i}" for i in range(3)}
    text = sign_in_sheet("Three", "of town", [SheetCard.of(*pair) for pair in links.items()])
    for name, link in links.items():
        assert f"<strong>{name}</strong><code>{link}</code>" in text
        assert qr_path(link)[0] in text
    assert text.count("<li>") == 3


def test_texts_are_escaped_and_nothing_is_loaded():
    text = sign_in_sheet("<b>", "a & b", [SheetCard.of('"><script>', "https://a.example/?a=1&b=<")])
    assert "<script" not in text
    assert "<b>" not in text
    assert "default-src 'none'" in text
    assert "src=" not in text.replace("default-src", "")

"""The page on languages is what the rules do."""

from languages import PAGE, page


def test_page_on_languages_is_generated() -> None:
    """`python tests/support/languages.py --write` writes it."""
    assert PAGE.read_text("utf-8") == page()

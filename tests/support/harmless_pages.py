"""What holds of every page that people answer, whatever its texts are."""

from judgescope.report.html import compact_script, script_hash
from report_setup import Page as Parsed
from running import HOME


def check_harmless(html: str) -> None:
    """Assert that a page runs its own script alone and shows no control character."""
    parsed = Parsed(html)
    assert (parsed.wrong, parsed.open) == ([], [])
    path = HOME / "workflow" / "people" / "save.js"
    script = compact_script(path.read_text(encoding="utf-8"))
    assert f"<script>{script}</script>" in html
    loaded = [tag for tag, _ in parsed.elements if tag in {"script", "img"}]
    assert loaded == ["script"]
    tags = parsed.named("meta")
    [policy] = [tag["content"] for tag in tags if "http-equiv" in tag]
    assert policy and policy.endswith(f"; script-src 'sha256-{script_hash(script)}'")
    for _, attributes in parsed.elements:
        assert not any(name.startswith("on") for name in attributes)
    assert not set("\x00\x1b\x85\ufffe\u202e\u2066") & set(html)

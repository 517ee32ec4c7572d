"""What several tests of votes share."""

HOSTILE = {
    "script": "<script>alert(1)</script> <img src=x onerror=alert(2)> </p></fieldset>",
    "controls": "a\x00b\x1bc\x85e\ufffef",
    "right to left": "\u202eabc \u05d0\u05d1\u05d2 \u2066def\u200f",
    "template": "{{ 7 * 7 }} {% raw %} &amp; \"quoted\" 'too'",
    "one line": "x" * 100_000,
}

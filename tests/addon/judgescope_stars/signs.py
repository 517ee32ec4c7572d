"""The sign that replies consist of."""

STAR = "*"

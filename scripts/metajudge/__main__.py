"""`python -m metajudge` is the command `metajudge`."""

from metajudge.cli import main

main()

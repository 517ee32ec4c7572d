"""`python -m judgescope` is the command `judgescope`."""

from judgescope.cli.main import main

main()

"""The command `judgescope`: one module per group of subcommands."""

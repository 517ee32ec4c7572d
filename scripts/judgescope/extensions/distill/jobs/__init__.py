"""The jobs of the rules, as those in the room jobs."""

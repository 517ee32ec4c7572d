"""What leaves a study for elsewhere: tables for a paper, a card of results, tidy judgments."""

"""`judgescope init`: from a table of rated texts to the cards of a study."""

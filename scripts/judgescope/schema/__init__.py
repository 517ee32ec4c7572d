"""What every other package agrees on: errors, cards and the tables on the way."""

"""The judges' cards: one offline page per judge, with its settings, numbers and worst cases."""

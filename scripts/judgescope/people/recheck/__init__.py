"""People judge again which of two texts is better: do the ratings that exist hold (paper 002)?"""

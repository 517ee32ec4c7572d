"""Reading rated texts: one adapter per format, all with the same checks and the same
result.
"""

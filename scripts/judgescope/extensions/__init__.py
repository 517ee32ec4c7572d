"""What stands on top of all other rooms: nothing imports it, the registry finds it.

Each folder is one extension; `core/extensions.py` says what its modules are for.
"""

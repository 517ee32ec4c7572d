"""What makes the blocks of each section; `report/contents.py` lists the sections."""

"""What several tests of annotation share."""

PLAIN = """Error 1:
Location: Al Horford
Explanation: The source has another player.
Severity: 4

Error 2:
Location: 18 points
Explanation: The source says 16.
Severity: 2

Overall score: Fair
Explanation of the score: Two facts are wrong.
"""


PIECES = (
    "Error 1:|Error 2 (Major):|Location: |Explanation: |Severity: |Category: |Overall score: |\n"
    '|"a"|“|”|`|3|5/5|Excellent|Poor|No Error|None|**|- |1. |{|}|[|]|"errors": |"severity":|,|:'
    "|<think>|</think>|: |```json|\ud800|\u202e|：|\\|1e999|NaN|Explanation of the score:|(|)| "
)

"""A scorer of engine `command` that prefers short texts: minus the number of characters.

It reads a JSON object a line (`id`, `text`) and writes one (`id`, `score`), as they come.
"""

import json
import sys

for line in sys.stdin:
    target = json.loads(line)
    print(json.dumps({"id": target["id"], "score": -len(target["text"])}), flush=True)

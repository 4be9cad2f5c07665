"""Counts to a number, one step a second fraction, and goes on where any node left off: its checkpoint is in the shared folder."""
import json
import os
import pathlib
import sys
import time

last = int(sys.argv[1])
checkpoint = pathlib.Path(os.environ["RADL_CHECKPOINTS"]) / "count.json"
mine = int(os.environ["RADL_MEMBER"])
begin = json.loads(checkpoint.read_text())["count"] if checkpoint.exists() else 0
print(json.dumps({"begins_at": begin}), flush=True)
for count in range(begin + 1, last + 1):
    if mine == 0:  # the chief writes; a file that is renamed into place is never read half
        new = checkpoint.with_suffix(".new")
        new.write_text(json.dumps({"count": count, "host": os.uname().nodename}))
        new.replace(checkpoint)
    else:
        deadline = time.monotonic() + 60
        while not checkpoint.exists() or json.loads(checkpoint.read_text())["count"] < count:
            if time.monotonic() > deadline:
                sys.exit(f"count {count} of the chief has not come in a minute")
            time.sleep(0.1)
    print(json.dumps({"count": count}), flush=True)
    time.sleep(0.05)

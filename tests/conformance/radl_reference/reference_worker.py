"""The reference implementation in a process of its own: documents in, verdicts out, one JSON line each."""
import json
import re
import sys
import warnings

warnings.simplefilter("ignore")
from radl import radl_json, radl_parse  # noqa: E402


def look_at(text):
    try:
        document = radl_parse.parse_radl(text)
    except Exception as error:  # whatever it raises, it refuses the document
        return {"verdict": "parse", "why": "%s: %s" % (type(error).__name__, error)}
    out = {"verdict": "ok"}
    try:
        out["json"] = radl_json.dump_radl(document)
    except Exception as error:
        out["json_error"] = "%s: %s" % (type(error).__name__, error)
    try:
        document.check()
    except Exception as error:
        out["verdict"] = "check"
        out["why"] = "%s: %s" % (type(error).__name__, error)
    return out


for line in sys.stdin:
    answer = look_at(json.loads(line))
    found = re.match(r"\w+: Line (\d+)", answer.get("why", ""))
    if found:
        answer["line"] = int(found.group(1))
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()

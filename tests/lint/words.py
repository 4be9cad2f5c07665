#!/usr/bin/env python3
"""Words that docs/glossary.md replaces must not come back. Usage: words.py SOURCE-FOLDER

Looks at what users read (pages, modules, examples, message texts) and at what whoever carries on reads (comments, file names).
A line that must quote such a word ends with `words: allow`.
"""
import pathlib
import re
import subprocess
import sys

REPLACED = [  # (what must not stand there, what stands there instead)
    (r"whole numbers?", "integer"),
    (r"yes or no(?!\))", "boolean"),
    (r"sentences?", "block"),
    (r"pictures?", "image"),
    (r"data sets?", "dataset"),
    (r"stands? (?:there )?twice|given twice|defined twice|declared twice", "duplicate, more than once"),
    (r"mends?|mended|mending", "repair, fix"),
    (r"blanks(?! the)|a blank\b(?! (?:line|square))|without blank", "space, spaces"),
    (r"at one blow", "atomically"),
    (r"written down", "recorded, journaled"),
    (r"(?:is|are|was|were|be|been) told", "reported"),
    (r"lists? of texts", "list of strings"),
]
PROSE = (".md", ".radl", ".1", ".5")
CODE = (".cc", ".h", ".inc", ".def", ".ll", ".yy")
# Facts of other tools, quoted; figures of earlier runs; what people wrote in their own files; tables made from the sources.
EXEMPT = ("docs/glossary.md", "docs/results.md", "tests/lang/", "tests/fuzz/", "tests/conformance/", "editors/", "bench/", "tests/lint/words.py")
QUOTED = re.compile(r'R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|//[^\n]*', re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.M)


def spoken(path: pathlib.Path):
    """(line number, text) of what is meant for people."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in PROSE or path.name == "Makefile":
        yield from enumerate(text.splitlines(), 1)
        return
    text = INCLUDE.sub("", text)
    for found in QUOTED.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        for offset, line in enumerate(found.group(0).splitlines()):
            yield first + offset, line


def main(root: pathlib.Path) -> int:
    words = re.compile("|".join(f"(?P<w{i}>\\b(?:{pattern})\\b)" for i, (pattern, _) in enumerate(REPLACED)), re.I)
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False).stdout.split("\n")
    files = [root / name for name in listed if name] or [p for p in root.rglob("*") if p.is_file()]
    problems = 0
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        if name.startswith(EXEMPT) or path.suffix not in PROSE + CODE or not path.exists():
            continue
        for number, line in spoken(path):
            if "words: allow" in line:
                continue
            for found in words.finditer(line):
                instead = next(REPLACED[i][1] for i in range(len(REPLACED)) if found.group(f"w{i}"))
                print(f"{name}:{number}: '{found.group(0)}': write {instead} (docs/glossary.md)")
                problems += 1
    print(f"{problems} words to replace" if problems else "words: as in docs/glossary.md")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))

#!/usr/bin/env python3
"""Options of the command lines must do something. Usage: options.py SOURCE-FOLDER

Each variable that an option or a flag is stored in is read somewhere, too: an option that nothing reads promises in --help what
does not happen.
"""
import pathlib
import re
import sys

BOUND = re.compile(r"add_(?:option|flag)\s*\(\s*\"[^\"]*\"(?:\s*\"[^\"]*\")*\s*,\s*(?:\w+(?:->|\.))*(\w+)\s*[,)]")
FOLDERS = ("runtime/cli", "engine/cli")


def main(root: pathlib.Path) -> int:
    problems = seen = 0
    sources = {}
    for folder in ("runtime", "engine", "compiler", "tools", "common"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cc", ".h"):
                sources[path] = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    bound = {}  # name -> first place
    for path, text in sources.items():
        if str(path.relative_to(root)).startswith(FOLDERS):
            for found in BOUND.finditer(text):
                seen += 1
                bound.setdefault(found.group(1), f"{path.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}")
    read = set()
    for text in sources.values():
        for line in BOUND.sub("", text).splitlines():
            for name in bound.keys() & set(re.findall(r"\w+", line)):
                # `type name;`, `type name = value;`, and in lists: `type a, name, b;`
                if not re.match(rf"\s*(?!return\b)[\w:<>, ]+?[ &*](?:\w+(?: = [^,;()]+)?, )*{name}\b(?:\s*=[^;()]*)?[,;]", line):
                    read.add(name)
    for name in sorted(bound.keys() - read):
        print(f"{bound[name]}: nothing reads `{name}`, what this option is stored in")
        problems += 1
    if seen < 150:
        print(f"only {seen} options were found: this lint does not see them any more")
        problems += 1
    print("options: each is read" if problems == 0 else f"options: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))

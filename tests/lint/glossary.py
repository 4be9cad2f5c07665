#!/usr/bin/env python3
"""docs/glossary.md keeps what it claims. Usage: glossary.py SOURCE-FOLDER | --test

- Each word that it explains is used by a message, or by another page, and is explained once.
- No message and no prose of a page contains a word of its column "Not".
A message is a string of C++, or of a program of the standard library, with at least two spaces; code of pages (blocks and `spans`) is not prose.
"""
import pathlib
import re
import sys

FOLDERS = ("common", "compiler", "engine", "runtime", "tools")


def rows(text, head):
    """Cells of the tables whose head is `head`."""
    found, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells == head:
            inside = True
        elif inside and not set(cells[0]) <= set("-:") and cells[0]:
            found.append(cells)
    return found


def words(cell):
    return [re.sub(r"\s*\(.*?\)", "", word).strip("`* ") for word in cell.split(",")]


def pattern(word):
    """The word as a whole, also as a plural."""
    return re.compile(r"(?<![\w-])" + re.escape(word[:-1] if word.endswith("y") else word) + (r"(?:y|ies)" if word.endswith("y") else r"(?:s|es)?") +
                      r"(?![\w-])", re.I)


def prose(page):
    return re.sub(r"`[^`]*`", "", re.sub(r"^( *)```.*?^ *```", "", page, flags=re.M | re.S))


def messages(source):
    found = re.findall(r'//[^\n]*|"((?:[^"\\\n]|\\.)*)"', source)
    return [text for text in found if text.count(" ") >= 2]


def judge(glossary, pages, sources):
    """`pages` and `sources`: path -> text."""
    told = {path: messages(text) for path, text in sources.items()}
    texts = [prose(text) for text in pages.values()] + ["\n".join(lines) for lines in told.values()]
    wrong, explained = [], set()
    for cells in rows(glossary, ["Word", "Meaning"]):
        for word in words(cells[0]):
            if word in explained:
                wrong.append(f"'{word}' is explained twice")
            explained.add(word)
            if not any(pattern(word).search(text) for text in texts):
                wrong.append(f"'{word}' is explained, but no message and no page uses it")
    for cells in rows(glossary, ["Write", "Not"]):
        for word in words(cells[1]):
            if word in explained:
                wrong.append(f"'{word}' is explained, and not to be written")
            for path, lines in sorted(told.items()):
                wrong += [f"{path}: '{line}': write {cells[0]}" for line in lines if pattern(word).search(line)]
            for path, text in sorted(pages.items()):
                wrong += [f"{path}: '{line.strip()}': write {cells[0]}" for line in prose(text).splitlines() if pattern(word).search(line)]
    return wrong


def test():
    glossary = "| Word | Meaning |\n|---|---|\n| node, run | x |\n| query (SQL) | y |\n\n| Write | Not |\n|---|---|\n| integer | whole number |\n"
    page = {"a.md": "Nodes run queries.\n```\nwhole number\n```\nSee `whole number`.\n"}
    assert judge(glossary, page, {}) == [], judge(glossary, page, {})
    assert judge(glossary, {"a.md": "Nodes and runs."}, {}) == ["'query' is explained, but no message and no page uses it"]
    assert len(judge(glossary, {"a.md": "Nodes run queries, a whole number of them."}, {})) == 1
    assert len(judge(glossary, page, {"b.cc": 'f("must be a whole number"); // "is a whole number"\n'})) == 1
    assert judge(glossary, page, {"b.cc": '// "must be a whole number"\n'}) == []
    assert "'node' is explained twice" in judge(glossary.replace("query (SQL)", "node"), page, {})


def main(folder):
    root = pathlib.Path(folder)
    glossary = root / "docs/glossary.md"
    pages = {str(path.relative_to(root)): path.read_text() for path in [*root.glob("docs/**/*.md"), root / "README.md"] if path != glossary}
    sources = {str(path.relative_to(root)): path.read_text()
               for folders, ends in ((FOLDERS, ("cc", "h", "def")), (("stdlib",), ("radl",))) for name in folders for end in ends for path in (root / name).rglob("*." + end)}
    wrong = judge(glossary.read_text(), pages, sources)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(test() if sys.argv[1] == "--test" else main(sys.argv[1]))

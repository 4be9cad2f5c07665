#!/usr/bin/env python3
"""The pages under docs/. Usage: pages.py SOURCE-FOLDER [--write] | --test

- No page has more than 300 lines; pages that the code generates are exempt.
- mkdocs.yml shows each page in its navigation once, and only pages that exist.
- A file of the repository that a page names exists; `function()` in `file` is in that file.
- docs/comparison.md counts the lines of the texts that it compares. --write puts the numbers into it.
"""
import pathlib
import re
import sys

LONGEST = 300
GENERATED = {"diagnostics.md", "steps-schema.md"}
LANGUAGES = ("yaml", "hcl", "python", "nix", "radl")
FOLDERS = "compiler|runtime|common|engine|tools|grammar|tests|cmake|stdlib|bench|examples|editors"
MARK = "<!-- counted by tests/lint/pages.py -->"


def long_pages(pages):
    return [f"{name}: {text.count(chr(10))} lines, more than {LONGEST}: split it" for name, text in sorted(pages.items())
            if name not in GENERATED and text.count("\n") > LONGEST]


def navigation(config, pages):
    shown = re.findall(r":\s+([\w./-]+\.md)\s*$", config.partition("\nnav:")[2], re.M)
    wrong = [f"mkdocs.yml shows {name} twice" for name in sorted({n for n in shown if shown.count(n) > 1})]
    wrong += [f"mkdocs.yml shows {name}, which does not exist" for name in shown if name not in pages]
    return wrong + [f"mkdocs.yml does not show {name}: add it to the navigation"
                    for name in sorted(set(pages) - set(shown))]


def named_files(pages, read):
    """`read`: path -> text, "" for a folder, None if it does not exist."""
    wrong = []
    for name, text in sorted(pages.items()):
        for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]*[\w/])`", text):
            if read(path) is None:
                wrong.append(f"{name}: {path} does not exist")
        for function, path in re.findall(r"`([\w:]+)\(\)` in\s+`([\w./-]+)`", text):
            if not re.search(rf"\b{re.escape(function)}\(", read(path) or ""):
                wrong.append(f"{name}: {path} has no {function}()")
    return wrong


def code_lines(text):
    """Lines that are neither empty, nor a comment, nor only brackets."""
    return sum(1 for line in text.splitlines() if re.search(r"\w", line) and not line.lstrip().startswith("#"))


def counts(pages):
    """{title of a section: {language: lines}} of the comparison's pages."""
    found = {}
    for name in sorted(pages):
        if name == "comparison.md" or name.startswith("comparison/"):
            for section in re.split(r"^## ", pages[name], flags=re.M)[1:]:
                blocks = re.findall(r"^```(\w+)\n(.*?)^```", section, re.M | re.S)
                if blocks:
                    found[section.partition("\n")[0]] = {language: code_lines(text) for language, text in blocks}
    return found


def counted(pages):
    """comparison.md with the numbers that are true."""
    page, found = pages["comparison.md"], counts(pages)

    def row(match):
        title = next((t for t in found if re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") == match[2]), None)
        numbers = [str(found.get(title, {}).get(language, "-")) for language in LANGUAGES]
        return match[1] + " | " + " | ".join(numbers) + " |"

    begin = page.index(MARK)
    end = page.index("\n\n", page.index("|---|", begin))
    return page[:begin] + re.sub(r"^(\| \[[^\]]*\]\([^)]*#([\w-]+)\)) \|.*$", row, page[begin:end], flags=re.M) + page[end:]


def main(root, write):
    docs = root / "docs"
    pages = {str(path.relative_to(docs)): path.read_text() for path in docs.rglob("*.md")}
    text = counted(pages)
    if write:
        (docs / "comparison.md").write_text(text)

    def read(path):
        return (root / path).read_text() if (root / path).is_file() else "" if (root / path).exists() else None

    wrong = long_pages(pages) + navigation((root / "mkdocs.yml").read_text(), pages) + named_files(pages, read)
    if text != pages["comparison.md"] and not write:
        wrong.append("docs/comparison.md has wrong numbers of lines: run tests/lint/pages.py . --write")
    print("\n".join(wrong) or f"{len(pages)} pages")
    return 1 if wrong else 0


def test():
    pages = {"a.md": "x\n" * 301, "b.md": "x\n", "c.md": "x\n", "diagnostics.md": "x\n" * 999}
    assert long_pages(pages) == ["a.md: 301 lines, more than 300: split it"], long_pages(pages)
    config = "site_name: x\nnav:\n  - A: a.md\n  - Folder:\n      - B: b.md\n      - Again: b.md\n      - D: d/e.md\n      - E: diagnostics.md\n"
    found = navigation(config, pages)
    assert found == ["mkdocs.yml shows b.md twice", "mkdocs.yml shows d/e.md, which does not exist",
                     "mkdocs.yml does not show c.md: add it to the navigation"], found
    found = named_files({"a.md": "`make()` in `compiler/a.cc`, `gone()` in\n`compiler/a.cc`, `runtime/none.h`, `runtime/*.h`"},
                        {"compiler/a.cc": "int make() {}"}.get)
    assert found == ["a.md: runtime/none.h does not exist", "a.md: compiler/a.cc has no gone()"], found
    compared = {"comparison.md": MARK + "\n\n| Lines | a |\n|---|---|\n| [T](comparison/x.md#one-task) | ? |\n\nend\n",
                "comparison/x.md": "## One task\n\n```yaml\na: 1\n# no\n\nb: [\n]\n```\n\n```radl\nradl 2\n```\n"}
    assert "| [T](comparison/x.md#one-task) | 2 | - | - | - | 1 |\n" in counted(compared), counted(compared)
    print("long pages, navigation and counts are judged")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        sys.exit(test())
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv))

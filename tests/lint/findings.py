#!/usr/bin/env python3
"""No finding says what a secret holds. Usage: findings.py SOURCE-FOLDER | findings.py --test

A value gives what a secret holds only against `kPermitted` (compiler/eval/permission.h), in the files that layers.py lists. Within a
function of such a file, what was taken with it, and what was made of that, may not stand in a statement that makes a finding or a
Status: report(...), with_help(...), invalid(...) and the like. A statement that asks `sensitive()` itself has decided it.
Where a value is shown, it is read without a permission: of a secret that gives nothing.
"""
import pathlib
import re
import sys

PERMISSION = "compiler/eval/secret_access.h"
GIVES = re.compile(r"\bkPermitted\b")
SAYS = re.compile(r"\b(?:report|with_help|labelled|note|fix|fail|refuse|wrong|invalid|not_found|Status|expected|overflow)\s*\(")
WORD = re.compile(r"[A-Za-z_]\w*")
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')


def functions(text):
    """(first line, text) of each definition: up to the closing brace in column 0, and of a class method by method."""
    begin, inside = 0, False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        inside = inside or bool(re.match(r"(?:class|struct) [^;]*$", line))
        if line.startswith("}") or (inside and re.match(r"  \}", line)):
            yield begin + 1, "\n".join(lines[begin:number + 1])
            begin = number + 1
        inside = inside and not line.startswith("}")


def statements(text):
    """(line, statement): cut at ; and at braces."""
    line, begin = 0, 0
    for at, c in enumerate(text):
        if c in ";{}":
            piece = text[begin:at]
            yield line + piece[:len(piece) - len(piece.lstrip())].count("\n"), piece
            line += text.count("\n", begin, at + 1)
            begin = at + 1


def holders(statement):
    """Names that the statement gives a value: `auto x = ...`, `&y = ...`, `for (auto x : ...`, `auto [a, b] = ...`."""
    names = set(re.findall(r"(\w+)\s*=(?![=])", statement)) | set(re.findall(r"\bfor\s*\([^:]*?(\w+)\s*:(?!:)", statement))
    for several in re.findall(r"\[([\w\s,]+)\]\s*[=:](?![=:])", statement):
        names |= set(WORD.findall(several))
    return names


def problems_in(text):
    out = []
    plain = STRINGS.sub(lambda m: " " * 2 if m.group(0).startswith('"') else "", text)
    for first, function in functions(plain):
        secret = set()
        for line, statement in statements(function):
            words = set(WORD.findall(statement))
            taken = bool(GIVES.search(statement)) or bool(words & secret)
            says = SAYS.search(statement)
            if says and "sensitive" not in words:
                behind = statement[says.start():]
                shown = set(WORD.findall(behind)) & secret
                if GIVES.search(behind) or shown:
                    out.append((first + line, ", ".join(sorted(shown)) or "kPermitted"))
            if taken and not says:
                secret |= holders(statement)
    return out


EXAMPLES = [  # (source, whether it says what a secret holds)
    ('void f() {\n  report(code, at, value.as_text(kPermitted));\n}\n', True),
    ('void f() {\n  const std::string& text = value.as_text(kPermitted);\n  report(code, at, "not " + text);\n}\n', True),
    ('void f() {\n  auto text = value.as_text(kPermitted);\n  std::string upper = to_upper(text);\n  if (upper.empty()) report(code, at, upper);\n}\n', True),
    ('void f() {\n  int64_t at = index.as_integer(kPermitted);\n  report(code, at_, "there is no such one");\n}\n', False),
    ('void f() {\n  auto text = value.as_text(kPermitted);\n  report(code, at, value.sensitive() ? "this" : text);\n}\n', False),
    ('void f() {\n  const std::string &a = x.as_text(kPermitted),\n                    &b = y.as_text(kPermitted);\n  return call.fail(fmt::format("no {}", b));\n}\n', True),
    ('void f() {\n  report(code, at, value.as_text());\n}\n', False),
]


def test():
    for source, says in EXAMPLES:
        if bool(problems_in(source)) != says:
            print("judged wrongly:\n" + source)
            return 1
    print(f"{len(EXAMPLES)} examples judged")
    return 0


def main(root):
    problems, looked = [], 0
    for path in sorted([*(root / "compiler").rglob("*.cc"), *(root / "tools").rglob("*.cc")]):
        text = path.read_text(encoding="utf-8")
        if PERMISSION not in text:
            continue
        looked += 1
        problems += [f"{path.relative_to(root).as_posix()}:{line}: a finding may not say what a secret holds ({what})"
                     for line, what in problems_in(text)]
    for problem in problems:
        print(problem)
    print(f"{looked} files with permissions looked at, {len(problems)} problems")
    return 1 if problems or not looked else 0


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1] == "--test" else main(pathlib.Path(sys.argv[1])))

#!/usr/bin/env python3
"""A run knows its surroundings from its Host (runtime/driver/host.h), never from the process, so that one process can serve many users.
Usage: host.py SOURCE-FOLDER | --test

OWNERS lists the files that do so for all others. A new one is refused.
"""
import pathlib
import re
import sys

FOLDERS = ("common", "runtime")
FRONT_ENDS = ("runtime/cli/",)  # each belongs to a program, whose process it may know
COMMENT = re.compile(r"//[^\n]*")
RAW = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"')  # scripts for nodes
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
RULES = {
    "reads the process's environment": r"\b(?:secure_)?getenv\(|\b(?:un)?setenv\(|\benviron\b|\benvironment_of_process\(",
    "takes the clock, files or random source of this machine": r"\breal_world\(\)",
    "depends on the process's current folder": r"\bcurrent_path\(|\bgetcwd\(|\bchdir\(",
    "prints or exits": r"\b(?:v?f?printf|fputs|puts|fwrite)\(|\bstd::c(?:out|err)\b|\bstd::_?exit\(|(?<![\w.:>])_?exit\(",
    "forks": r"(?<![\w.])v?fork\(\)",
    "makes strangers wait for each other": r"\bstatic (?:std::)?(?:\w+_)?mutex\b",
    "keeps something for ever": r"^[ \t]+(?:inline )?static (?!const\b|constexpr\b|thread_local\b)[\w:<>, *&]+ \w+(?:;| = |\{)",
}
# The place of each rule: what all others are given comes from there.
OWNERS = {
    "reads the process's environment": {"common/environment.cc", "common/environment.h", "runtime/base/world.cc"},
    "takes the clock, files or random source of this machine": {"runtime/base/world.cc", "runtime/base/world.h"},
    "depends on the process's current folder": {"common/process/detached.cc", "common/process/process.cc"},  # of a child, before exec
    "prints or exits": {"common/process/detached.cc"},  # a child, before exec
    "forks": {
        "common/process/detached.cc", "common/process/guard.cc", "common/process/process.cc",  # and execs
        "runtime/trial/process_copy.cc",  # without exec, of a process with one thread: docs/decisions/0031-copies-of-the-process.md
    },
    "keeps something for ever": {
        "common/turn.cc",  # the keys that somebody waits for now
        "runtime/base/local_digest.cc",  # a bounded number; content is a function of the stamp
        "runtime/base/world.cc",  # this machine
    },
}


def code_of(text):
    return STRING.sub('""', COMMENT.sub("", RAW.sub('""', text)))


def judge(sources):
    for rule, pattern in RULES.items():
        found = re.compile(pattern, re.MULTILINE)
        seen = {name for name, text in sources.items()
                if not name.startswith(FRONT_ENDS) and found.search(code_of(text))}
        owners = OWNERS.get(rule, set())
        for name in sorted(seen - owners):
            yield f"{name}: it {rule}; take that from the run's Host or World"
        for name in sorted(owners - seen):
            yield f"{name}: it no longer {rule}: remove it from tests/lint/host.py"


def read(root):
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in (".cc", ".h")}


def main(root):
    problems = list(judge(read(root)))
    print("\n".join(problems) if problems else "host: nothing new asks the process")
    return 1 if problems else 0


def test():
    clean = {name: "" for owners in OWNERS.values() for name in owners}
    for rule, line in {"reads the process's environment": 'std::getenv("HOME");',
                       "takes the clock, files or random source of this machine": "World& world = real_world();",
                       "depends on the process's current folder": "fs::current_path();",
                       "prints or exits": 'std::fprintf(stderr, "x");',
                       "forks": "if (::fork() == 0) work();",
                       "makes strangers wait for each other": "  static std::timed_mutex one_at_a_time;",
                       "keeps something for ever": "  static std::map<std::string, Answer> known;"}.items():
        sources = dict(clean)
        sources["runtime/driver/new.cc"] = line
        assert any(p.startswith("runtime/driver/new.cc") and rule in p for p in judge(sources)), rule
        sources["runtime/driver/new.cc"] = "// " + line
        sources["runtime/cli/new.cc"] = line
        assert not any("new.cc" in p for p in judge(sources)), rule
        for name in OWNERS.get(rule, ()):
            assert any(p.startswith(name) and rule in p for p in judge(clean)), (rule, name)
    print("host: judges as it should")
    return 0


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1:] == ["--test"] else main(pathlib.Path(sys.argv[1])))

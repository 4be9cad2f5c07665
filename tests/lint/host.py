#!/usr/bin/env python3
"""A run knows its surroundings from its Host (runtime/driver/host.h), never from the process, so that one process can serve many users.
Usage: host.py SOURCE-FOLDER | --test

DEBTS lists the files that still ask the process. A new one is refused, and so is an entry whose file no longer does it: the lists only shrink.
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
    "reads the process's environment": r"\b(?:secure_)?getenv\(|\b(?:un)?setenv\(|\benviron\b|\benvironment_variable\(",
    "takes the clock, files or random source of this machine": r"\breal_world\(\)",
    "depends on the process's current folder": r"\bcurrent_path\(|\bgetcwd\(|\bchdir\(",
    "prints or exits": r"\b(?:v?f?printf|fputs|puts|fwrite)\(|\bstd::c(?:out|err)\b|\bstd::_?exit\(|(?<![\w.:>])_?exit\(",
}
DEBTS = {
    "reads the process's environment": {
        "common/aws/settings.cc",
        "common/azure/settings.cc",
        "common/dataset_digest.cc",
        "common/google/settings.cc",
        "common/http/failed_transfer.cc",
        "common/http/http.cc",
        "common/http/proxy.cc",
        "common/openstack/egi.cc",
        "common/openstack/settings_files.cc",
        "common/process/environment.cc",
        "common/user_text.cc",
        "common/user_text.h",
        "runtime/auth/auth_file.cc",
        "runtime/auth/google_account.cc",
        "runtime/clouds/hosts/hosts_cloud.cc",
        "runtime/clouds/local/local_cloud.cc",
        "runtime/net/ssh/key_places.cc",
        "runtime/net/ssh/open_master.cc",
        "runtime/net/ssh/user_config.cc",
        "runtime/state/object_store.cc",
        "runtime/state/place.cc",
        "runtime/steps/dataset.cc",
    },
    "takes the clock, files or random source of this machine": {
        "runtime/base/world.cc",
        "runtime/base/world.h",
        "runtime/exec/scheduler.h",
        "runtime/trial/trial_world.cc",
    },
    "depends on the process's current folder": {
        "common/process/detached.cc",
        "common/process/process.cc",
    },
    "prints or exits": {
        "common/process/detached.cc",
    },
}


def code_of(text):
    return STRING.sub('""', COMMENT.sub("", RAW.sub('""', text)))


def judge(sources):
    for rule, pattern in RULES.items():
        found = re.compile(pattern)
        seen = {name for name, text in sources.items()
                if not name.startswith(FRONT_ENDS) and found.search(code_of(text))}
        debts = DEBTS.get(rule, set())
        for name in sorted(seen - debts):
            yield f"{name}: it {rule}; take that from the run's Host or World"
        for name in sorted(debts - seen):
            yield f"{name}: it no longer {rule}: remove it from tests/lint/host.py"


def read(root):
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in (".cc", ".h")}


def main(root):
    problems = list(judge(read(root)))
    print("\n".join(problems) if problems else "host: nothing new asks the process")
    return 1 if problems else 0


def test():
    clean = {name: "" for debts in DEBTS.values() for name in debts}
    kept = {name: "" for name in clean}
    for rule, line in {"reads the process's environment": 'std::getenv("HOME");',
                       "takes the clock, files or random source of this machine": "World& world = real_world();",
                       "depends on the process's current folder": "fs::current_path();",
                       "prints or exits": 'std::fprintf(stderr, "x");'}.items():
        sources = dict(kept)
        sources["runtime/driver/new.cc"] = line
        assert any(p.startswith("runtime/driver/new.cc") and rule in p for p in judge(sources)), rule
        sources["runtime/driver/new.cc"] = "// " + line
        sources["runtime/cli/new.cc"] = line
        assert not any("new.cc" in p for p in judge(sources)), rule
        for name in DEBTS.get(rule, ()):
            assert any(p.startswith(name) and rule in p for p in judge(clean)), (rule, name)
    print("host: judges as it should")
    return 0


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1:] == ["--test"] else main(pathlib.Path(sys.argv[1])))

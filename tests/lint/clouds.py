#!/usr/bin/env python3
"""A cloud is named in its own folder and nowhere else. Usage: clouds.py SOURCE-FOLDER | --test

The names are those of `provider()` in runtime/clouds/*/provider.cc: its type, its image schemes, its types in auth files. No source of
the compiler, the tools, the engine or the runtime outside of the folder may have one as a string. `local` and `hosts`, the computer and
the machines of the user, are concepts of the runtime as well: they are not checked. common/ has the vendors' own clients.
"""
import pathlib
import re
import sys

TOPS = ("compiler", "tools", "engine", "runtime")
COMMENT = re.compile(r"//[^\n]*")
FIELD = re.compile(r"\.(type|image_schemes|auth_types|im_type) = (\"\w+\"|\{[^}]*\})")


def names_of(provider: str) -> set[str]:
    """Those that a provider.cc defines; none if its nodes are on this computer."""
    if ".on_this_computer = true" in provider:
        return set()
    return {name for _, value in FIELD.findall(provider) for name in re.findall(r'"(\w+)"', value)}


def judge(sources: dict[str, str]) -> list[str]:
    owners = {}  # name -> folder
    for file, text in sources.items():
        if re.fullmatch(r"runtime/clouds/\w+/provider\.cc", file):
            owners |= {name: file.rpartition("/")[0] for name in names_of(text)}
    problems = [] if owners else ["no runtime/clouds/*/provider.cc names a cloud"]
    for file, text in sorted(sources.items()):
        for number, line in enumerate(text.split("\n"), 1):
            for word in re.findall(r'"(\w+)"', COMMENT.sub("", line)):
                if word in owners and not file.startswith(owners[word] + "/"):
                    problems.append(f'{file}:{number}: names a cloud, "{word}": what differs belongs into CloudProvider or Cloud, in {owners[word]}')
    return problems


def read(root: pathlib.Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for top in TOPS for path in (root / top).rglob("*") if path.suffix in (".cc", ".h")}


def test() -> int:
    own = 'const CloudProvider self = {.type = "ec2",\n .image_schemes = {"aws"}, .auth_types = {"EC2", "EC2b"},\n .default_region = "us-east-1"};'
    here = '.type = "local", .on_this_computer = true'
    assert names_of(own) == {"ec2", "aws", "EC2", "EC2b"} and not names_of(here)
    sources = {"runtime/clouds/ec2/provider.cc": own, "runtime/clouds/local/provider.cc": here}
    assert not judge(sources | {"runtime/clouds/ec2/api.cc": 'service("ec2")', "runtime/cli/a.cc": '"local"; // "ec2"'})
    assert len(judge(sources | {"runtime/cli/a.cc": 'if (cloud == "ec2")', "compiler/b.cc": '{"one", "aws"}'})) == 2
    assert judge({"runtime/cli/a.cc": ""})
    print("clouds: judges as it should")
    return 0


def main(root: pathlib.Path) -> int:
    problems = judge(read(root))
    print("\n".join(problems) if problems else "clouds: each is named in its own folder alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1:] == ["--test"] else main(pathlib.Path(sys.argv[1])))

"""mkdocs: pages that the built radlc writes: the options of each command, and the modules of the standard library.

The program is $RADL_BUILD/bin/radlc, or build/bin/radlc. If it is not built, the site does without these pages.
"""
import os
import pathlib
import re
import subprocess

from mkdocs.structure.files import File

PAGES = {}  # name in the site -> text


def output(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, env=dict(os.environ, NO_COLOR="1")).stdout


def subcommands(text):
    """[(group, name)] of a --help."""
    for group, block in re.findall(r"^(\w+):\n((?:  .*\n)+)", text, re.M):
        if group not in ("Options", "Positionals"):
            yield from ((group, name) for name in re.findall(r"^  ([a-z][a-z-]+) ", block, re.M))


def command_text(program, words, level):
    text = output(program, *words, "--help")
    yield f"{'#' * level} radlc {' '.join(words)}\n\n```text\n{text.rstrip()}\n```\n"
    for _, name in subcommands(text):
        yield from command_text(program, (*words, name), level + 1)


def command_pages(program):
    groups = {}
    for group, name in subcommands(output(program, "--help")):
        groups.setdefault(group, []).append(name)
    for group, names in groups.items():
        text = "".join("\n" + part for name in names for part in command_text(program, (name,), 2))
        PAGES[f"commands/{group.lower()}.md"] = (f"# Commands: {group.lower()}\n\nThis page has the options of these commands, as `radlc COMMAND --help` "
                                                 f"prints them. [The command line](../cli.md) has the rules that all share.\n{text}")
        yield {f"Options: {group.lower()}": f"commands/{group.lower()}.md"}


def module_pages(program, root):
    for path in sorted((root / "stdlib").rglob("*.radl")):
        name = "std/" + str(path.relative_to(root / "stdlib").with_suffix(""))
        PAGES[f"stdlib/{name[4:]}.md"] = output(program, "doc", str(path), "--name", name)
        yield {name: f"stdlib/{name[4:]}.md"}


def on_config(config):
    root = pathlib.Path(config.config_file_path).parent
    program = pathlib.Path(os.environ.get("RADL_BUILD") or root / "build") / "bin" / "radlc"
    PAGES.clear()
    if not program.exists():
        return config
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    next(part["Commands"] for part in reference if "Commands" in part).extend(command_pages(program))
    reference.append({"Standard library": list(module_pages(program, root))})
    return config


def on_files(files, config):
    for name, text in PAGES.items():
        files.append(File.generated(config, name, content=text))
    return files

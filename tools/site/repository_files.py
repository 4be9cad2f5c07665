"""mkdocs: pages link to examples and sources of the repository. The site gets copies of these files, below repository/.

It also gets iframe-worker.js, which lets the search work in pages that are opened from a file.
"""
import os
import pathlib
import re

from mkdocs.structure.files import File

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)
FOLDER = "repository"


def target_of(page, link, root):
    """The file of the repository, outside of docs/, that a link of a page names; None for all other links."""
    if re.match(r"[a-z]+:", link) or link.startswith("/"):
        return None
    path = (page.parent / link).resolve()
    if path.is_dir():
        path = path / "README.md" if (path / "README.md").exists() else path
    inside = (root / "docs").resolve()
    return path if path.exists() and inside not in path.parents and path != inside else None


def links(text):
    for part in FENCE.split(text)[::2]:
        yield from (match[2] for match in LINK.finditer(part))


def on_files(files, config):
    root = pathlib.Path(config.config_file_path).parent
    pending = [pathlib.Path(file.abs_src_path) for file in files.documentation_pages()]
    copied = set()
    files.append(File.generated(config, "assets/iframe-worker.js", abs_src_path=str(root / "tools/site/iframe-worker.js")))
    while pending:
        page = pending.pop()
        for link in links(page.read_text()):
            path = target_of(page, link, root)
            if path is None or path in copied:
                continue
            copied.add(path)
            name = f"{FOLDER}/{path.relative_to(root)}"
            if path.is_dir():
                listing = "".join(f"- `{each.name}`\n" for each in sorted(path.iterdir()))
                files.append(File.generated(config, name + ".md", content=f"# {path.relative_to(root)}\n\n{listing}"))
            else:
                files.append(File.generated(config, name, abs_src_path=str(path)))
                if path.suffix == ".md":
                    pending.append(path)
    return files


def on_page_markdown(markdown, page, config, files):
    root = pathlib.Path(config.config_file_path).parent
    copied = page.file.src_uri.startswith(FOLDER + "/")
    source = root / page.file.src_uri[len(FOLDER) + 1:] if copied else root / "docs" / page.file.src_uri

    def rewritten(match):
        path = target_of(source, match[2], root)
        if path is not None:
            uri = f"{FOLDER}/{path.relative_to(root)}" + (".md" if path.is_dir() else "")
        elif copied and not re.match(r"[a-z]+:", match[2]):
            uri = os.path.relpath((source.parent / match[2]).resolve(), root / "docs")
        else:
            return match[0]
        return match[1] + os.path.relpath(uri, os.path.dirname(page.file.src_uri)) + match[3]

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(rewritten, part) for part in parts[::2]]
    return "".join(parts)

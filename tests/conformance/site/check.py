"""check.py SITE: every link and every asset of the pages exists, with its anchor; nothing comes from a network."""
import html.parser
import pathlib
import sys
import urllib.parse

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = {"", "__tabbed"}, [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADED.get(tag)) and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given[LOADED[tag]])


def main(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    wrong, links = [], 0
    for path, page in pages.items():
        wrong += [f"{path.relative_to(site)} loads {name}" for name in page.loaded if name.startswith(("http:", "https:", "//"))]
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            links += 1
            if not target.exists():
                wrong.append(f"{path.relative_to(site)}: {link} does not exist")
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(site)}: {link} has no such anchor")
    index = site / "search" / "search_index.js"
    if not index.exists() or "parameter server" not in index.read_text():
        wrong.append("the search has no index that a browser reads without a server")
    print("\n".join(wrong) or f"{len(pages)} pages, {links} links, no network")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))

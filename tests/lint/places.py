#!/usr/bin/env python3
"""Some things are done in one place, so that a fault in them is mended once. Usage: places.py SOURCE-FOLDER | --test

A second place is not forbidden for ever: it is added here, with what it does that the first one cannot.
"""
import pathlib
import re
import sys

FOLDERS = ("common", "compiler", "tools", "runtime", "engine")
COMMENT = re.compile(r"//[^\n]*")
# What is done; how it looks; the files that do it.
PLACES = [
    ("HTTP requests are sent", r"\bcurl_(?:easy|multi)_(?:init|perform)\b", {"common/http/http.cc"}),
    ("waits between attempts over HTTP are drawn", r"\bBackoff::", {"common/http/retry.cc"}),
    ("waits between attempts of an action are drawn", r"\bmilliseconds backoff\(.*\{", {"runtime/exec/retry.cc"}),
    ("unified diffs are made", r"\"@@", {"common/text_diff.cc"}),
    ("programs are looked for in PATH", r"environment\(\"PATH\"\)", {
        "common/process/environment.cc",
        "common/azure/az_login.cc",  # whether `az` is there, of variables that a test gives
    }),
    ("INI files are read", r"'\['\) return header\(", {"common/ini.cc"}),
    ("times become texts, and texts times", r"\b(?:gmtime(?:_r)?|strftime|strptime|timegm)\(", {"common/utc.cc"}),
    ("queries of URLs are taken apart", r"split\(.*'&'\)", {"common/http/url.cc"}),
    ("the environment's variables are asked in turn", r"\bstd::string first(?:_set)?\(const \w+& environment.*\{", {"common/environment.cc"}),
    ("threads and calls are stopped", r"\bstd::stop_(?:token|source)\b|\bclass Stop(?:Source)?\b", {"common/stop.h"}),
    ("words are quoted for a shell", r"\bstd::string shell_quote\(.*\{", {"common/shell_quote.cc"}),
    ("SSH sessions are opened", r"\blibssh2_session_init", {"runtime/net/ssh/connect.cc"}),
    ("a session's error text is read", r"\blibssh2_session_last_error\b", {"runtime/net/ssh/connection.cc"}),
    ("databases are opened", r"\bsqlite3_open", {"runtime/state/database.cc"}),
    ("programs of this computer are started", r"\b(?:v?fork|posix_spawnp?|exec(?:ve|vp|vpe|l|lp|le))\s*\(", {
        "common/process/process.cc",  # its own group, by the clock
        "common/process/guard.cc",  # ends what a killed run leaves
        "common/process/detached.cc",  # outlives the run
        "runtime/cli/cmd_ssh.cc",  # becomes ssh
        "runtime/trial/process_copy.cc",  # copies this process, without a program
    }),
]


def doers(pattern, sources):
    found = re.compile(pattern)
    return {name for name, text in sources.items() if found.search(text)}


def judge(sources):
    for what, pattern, places in PLACES:
        seen = doers(pattern, sources)
        for name in sorted(seen - places):
            yield f"{name}: {what} here as well as in {', '.join(sorted(places))}"
        for name in sorted(places - seen):
            yield f"{name}: it is no longer here that {what}: tests/lint/places.py should say where"


def read(root):
    sources = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cc", ".h"):
                sources[str(path.relative_to(root))] = COMMENT.sub("", path.read_text(encoding="utf-8"))
    return sources


def main(root):
    problems = list(judge(read(root)))
    print("\n".join(problems) if problems else "places: each thing is done where it should be")
    return 1 if problems else 0


def test():
    line = {"HTTP requests are sent": "auto* handle = curl_easy_init();",
            "unified diffs are made": 'out += "@@ -1 +1 @@";',
            "programs are looked for in PATH": 'const std::string path = environment("PATH");',
            "INI files are read": "if (text[0] == '[') return header(text);",
            "times become texts, and texts times": "::strptime(text.c_str(), format, &parts);",
            "queries of URLs are taken apart": "for (std::string_view part : split(query, '&')) {",
            "the environment's variables are asked in turn": "std::string first(const Lookup& environment, Names names) {",
            "threads and calls are stopped": "void run(std::stop_token token);",
            "words are quoted for a shell": "std::string shell_quote(std::string_view text) {",
            "programs of this computer are started": "execvp(argv[0], argv);"}
    for what, text in line.items():
        said = [each for each in judge({"runtime/other.cc": text}) if each.startswith("runtime/other.cc: " + what)]
        assert len(said) == 1, (what, said)
    assert not [each for each in judge({"runtime/other.cc": "run(stop);"}) if each.startswith("runtime/other.cc")]
    print("places: a second place is found")


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1] == "--test" else main(pathlib.Path(sys.argv[1]).resolve()))

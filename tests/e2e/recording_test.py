"""The terminal recording of the README, docs/images/first-session.svg, shows what radlc prints today.

RADL_SCREENSHOTS=docs/images writes it. Durations and addresses differ from run to run and are not compared.
"""
import html
import os
import pathlib
import re
import shlex
import subprocess

from radl_case import BUILD, SOURCE, RadlCase

NAME = "first-session.svg"
FILE = """\
radl 2
system web ( cpu.count >= 1, memory.sise >= 256M )
deploy web 1

configure site (
  file '/srv/site/index.html' ( content = '<h1>Hello</h1>' )
  command <<END
    set -e
    ls /srv/site > /srv/site/files
    cat /srv/site/files
  END
)
contextualize ( system web configure site )
output address ( value = web[0].ip )
"""
COMMANDS = ["cat site.radl", "radlc check site.radl", "sed -i s/sise/size/ site.radl", "radlc plan site.radl",
            "radlc apply site.radl --auto-approve --parallelism 1", "radlc apply site.radl", "radlc destroy site.radl --auto-approve --parallelism 1"]
COLORS = {"31": "#ff8a80", "32": "#7ddb8a", "33": "#f1c760", "34": "#8ab4ff", "35": "#d9a3f0", "36": "#7fd6e0", "2": "#8b94a3"}
WIDTH, LINE, LEFT, TOP = 900, 19, 18, 52
SECONDS = 2.2  # between two commands of the animation


def spans(line):
    """The line as SVG, its escape sequences as colors."""
    out, style = "", ""
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if piece.startswith("\x1b"):
            codes = piece[2:-1].split(";")
            color = next((COLORS[code] for code in codes if code in COLORS), "")
            style = (f' fill="{color}"' if color else "") + (' font-weight="bold"' if "1" in codes else "")
        elif piece:
            out += f"<tspan{style}>{html.escape(piece)}</tspan>" if style else html.escape(piece)
    return out


def picture(session):
    """`session`: (command, output) in order."""
    body, style, row = "", "", 0
    for number, (command, output) in enumerate(session):
        body += f'<g class="s{number}">\n'
        style += f".s{number}{{animation:show .01s {number * SECONDS:.1f}s both}}"
        for line in [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *output.rstrip("\n").split("\n"), ""] if output.strip() else [
                f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m"]:
            body += f'<text x="{LEFT}" y="{TOP + row * LINE}">{spans(line)}</text>\n'
            row += 1
        body += "</g>\n"
    height = TOP + row * LINE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" aria-label="A terminal session with radlc">\n'
            "<style>text{font:13.5px ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',monospace;fill:#e4e7ec;white-space:pre}"
            f"@keyframes show{{from{{opacity:0}}to{{opacity:1}}}}{style}@media(prefers-reduced-motion:reduce){{g{{animation:none!important}}}}</style>\n"
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#12161c"/>\n'
            '<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>\n'
            f"{body}</svg>\n")


def compared(svg):
    """Lines of text, without what differs from run to run."""
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in re.findall(r"<text [^>]*>(.*)</text>", svg)]
    return [re.sub(r"\b10(\.\d+){3}\b", "ADDRESS", re.sub(r"[\d.:]+ (m?s|min)\b", "TIME", line)).rstrip() for line in lines]


class Recording(RadlCase):
    def test_the_recording_shows_the_printed_text(self):
        self.environment.pop("NO_COLOR")
        self.environment.update(PATH=f"{BUILD / 'bin'}:{self.environment['PATH']}", CLICOLOR_FORCE="1", CI="", HOME=str(self.folder))
        self.write("site.radl", FILE)
        session = []
        for command in COMMANDS:
            done = subprocess.run(shlex.split(command), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
            self.assertEqual(done.returncode, 1 if " check " in command else 0, done.stdout)
            session.append((command, done.stdout))
        made = picture(session)
        if os.environ.get("RADL_SCREENSHOTS"):
            (pathlib.Path(os.environ["RADL_SCREENSHOTS"]) / NAME).write_text(made)
        kept = (SOURCE / "docs/images" / NAME).read_text()
        self.assertEqual(compared(kept), compared(made), f"make screenshots writes docs/images/{NAME}")

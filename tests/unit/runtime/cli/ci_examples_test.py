"""The examples of docs/ci as they stand there: their commands run, against stand-ins for the forge's own tools."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
DOCS = pathlib.Path(__file__).resolve().parents[4] / "docs" / "ci"
SITE = "radl 2\noutput greeting (value = 'hello')\n"

# What a forge keeps between jobs lies in $FORGE: the comment, and what was uploaded.
GH = """#!/bin/sh
case "$1 $2" in
  "pr comment") [ "$6" != --edit-last ] || exit 1; cp "$5" "$FORGE/comment.md" ;;
  "api repos/"*) echo "$HEAD_SHA" ;;
  "run list") echo 7 ;;
  "run download") [ "$3 $5" = "7 plan-$HEAD_SHA" ] && cp "$FORGE/artifact/"* . ;;
  *) echo "gh: $*" >&2; exit 9 ;;
esac
"""
CURL = """#!/bin/sh
for last; do case "$last" in body=\\<*) cp "${last#body=<}" "$FORGE/comment.md" ;; esac; done
while [ $# -gt 1 ]; do [ "$1" = --output ] && out=$2; shift; done
case "$1" in
  */notes) ;;
  */merge_requests) echo '[{"iid":12}]' ;;
  */jobs/artifacts/refs%2Fmerge-requests%2F12%2Fhead/raw/reviewed.radlplan?job=plan) cp "$FORGE/artifact/reviewed.radlplan" "$out" ;;
  *) echo "curl: $1" >&2; exit 9 ;;
esac
"""
JQ = """#!/bin/sh
cat > /dev/null
echo 12
"""


def github_steps(job):
    """The `run:` blocks of a job."""
    text = (DOCS / "github-actions.yml").read_text()
    body = re.search(rf"^  {job}:\n((?:    .*\n|\n)+)", text, re.M).group(1)
    return [re.sub(r"^          ", "", block, flags=re.M) for block in re.findall(r"run: \|\n((?:          .*\n)+)", body)]


def gitlab_steps(job):
    """The items of `script:`."""
    text = (DOCS / "gitlab-ci.yml").read_text()
    body = re.search(rf"^{job}:\n((?:  .*\n|\n)+)", text, re.M).group(1)
    script = re.search(r"  script:\n((?:    - .*\n)+)", body).group(1)
    return ["\n".join(item[1:-1] if item.startswith("'") else item for item in re.findall(r"    - (.*)\n", script))]


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-ci-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.work, self.forge = self.at / "work", self.at / "forge"
        for path in (self.work, self.forge / "artifact", self.at / "bin"):
            path.mkdir(parents=True)
        for name, text in (("gh", GH), ("curl", CURL), ("jq", JQ)):
            (self.at / "bin" / name).write_text(text)
            (self.at / "bin" / name).chmod(0o755)
        (self.work / "site.radl").write_text(SITE)
        self.environment = {
            **os.environ, "PATH": f"{self.at / 'bin'}:{BUILD / 'bin'}:{os.environ['PATH']}", "HOME": str(self.at),
            "FORGE": str(self.forge), "HEAD_SHA": "abc123", "SITE": "site.radl", "MAX_COST": "5 USD/h", "PULL": "5",
            "HEAD": "abc123", "MERGED": "def456", "REPOSITORY": "ana/site", "COMMENT_TOKEN": "x", "CI_API_V4_URL": "http://forge",
            "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "12", "CI_COMMIT_SHA": "def456"}

    def run_steps(self, steps):
        done = None
        for step in steps:
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step], cwd=self.work, env=self.environment,
                                  capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                break
        return done

    def keep_artifact(self):
        for name in ("reviewed.radlplan", "plan.html"):
            shutil.move(self.work / name, self.forge / "artifact" / name)

    def review_then_merge(self, steps):
        planned = self.run_steps(steps("plan"))
        self.assertEqual(planned.returncode, 0, planned.stderr)
        comment = (self.forge / "comment.md").read_text()
        self.assertIn("### Plan of site", comment)
        self.assertIn("greeting", comment)
        self.keep_artifact()
        return self.run_steps(steps("apply"))

    def test_github_applies_the_very_plan_that_was_reviewed(self):
        applied = self.review_then_merge(github_steps)
        self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
        self.outputs_are_there()

    def test_gitlab_applies_the_very_plan_that_was_reviewed(self):
        applied = self.review_then_merge(gitlab_steps)
        self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
        self.outputs_are_there()

    def outputs_are_there(self):
        shown = subprocess.run(["radlc", "output", "greeting"], cwd=self.work, env=self.environment, capture_output=True,
                               text=True, timeout=60)
        self.assertIn("hello", shown.stdout, shown.stderr)

    def test_what_was_merged_after_the_review_is_refused(self):
        for steps in (github_steps, gitlab_steps):
            with self.subTest(steps=steps.__name__):
                (self.work / "site.radl").write_text(SITE)
                self.assertEqual(self.run_steps(steps("plan")).returncode, 0)
                self.keep_artifact()
                (self.work / "site.radl").write_text(SITE.replace("hello", "something else"))
                applied = self.run_steps(steps("apply"))
                self.assertNotEqual(applied.returncode, 0)
                self.assertIn("site.radl", applied.stderr)

    def test_every_command_of_radlc_in_them_has_the_options_that_it_is_given(self):
        used = set()
        for steps in (github_steps, gitlab_steps):
            for job in ("plan", "apply"):
                for line in "\n".join(steps(job)).splitlines():
                    if line.startswith("radlc "):
                        used |= {(line.split()[1], option) for option in re.findall(r" (--[a-z-]+)", line)}
        self.assertGreater(len(used), 4)
        for command, option in used:
            text = subprocess.run([BUILD / "bin" / "radlc", command, "--help"], capture_output=True, text=True, timeout=60).stdout
            self.assertIn(option, text)


if __name__ == "__main__":
    unittest.main()

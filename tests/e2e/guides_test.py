"""The tutorials and how-to guides, followed: each saves the files that a page shows and runs its commands in their order.

A plan is made in the cloud that the page names, without credentials. What needs a cloud runs on local nodes instead: `--cloud ec2`
becomes `--cloud local`. Commands that local nodes cannot take are in PLANNED_ONLY, and only planned.
"""
import re
import shlex
import unittest

from radl_case import SOURCE
from tutorial_test import Newcomer

# They need a cloud, an account, other machines, or minutes; tests/unit and the clouds' suites run them.
ELSEWHERE = ("check-auth", "list", "history", "catalog", "profile", "autoscale", "submit", "queue", "state", "import", "recommend")
WITHOUT_PLANS = {"serve"}  # it is about a service
# Their machines have GPUs, are in a VPC or a bucket of the reader's, or train for minutes.
PLANNED_ONLY = {"gpus", "spot", "slurm", "hosts", "from-skypilot", "from-terraform", "from-im-ec3", "torch"}
RUN_BY_OTHERS = {"own-images", "teams"}  # own_images_test.py; the state in a bucket: tests/aws
PAGES = sorted(page for folder in ("tutorials", "how-to") for page in (SOURCE / "docs" / folder).glob("*.md"))


class Guide(Newcomer):
    def files(self, page):
        for name, text in re.findall(r"^<!-- file (\S+) -->\n```\w*\n(.*?)^```", page.read_text(), re.M | re.S):
            self.write(name, text)

    def lines(self, page):
        """(command, what the page shows of its output) in their order."""
        pattern = r"^```console\n\$ (.*)\n((?:(?!```).*\n)*)|^ {4}((?:radlc|export) .*)$"
        for shown, output, typed in re.findall(pattern, page.read_text(), re.M):
            yield re.sub(r"\s+#.*$", "", shown or typed), [line for line in output.splitlines() if line.strip() not in ("", "...")]

    def follow(self, page):
        self.files(page)
        self.write("src/train.py", "print('loss=0.5')\n")
        self.write("src/requirements.txt", "")
        self.write("requirements.lock", "")
        self.write("data/numbers", "1\n")
        ran = set()
        for line, shown in self.lines(page):
            words = shlex.split(line)
            if words[0] == "export":
                name, _, value = words[1].partition("=")
                self.environment[name] = value
                continue
            changes = words[1] not in ("plan", "check", "fmt", "test", "explain")
            if words[1] in ELSEWHERE or "--refresh" in words or changes and page.stem in PLANNED_ONLY:
                continue
            if changes:
                line = re.sub(r"--cloud \w+", "--cloud local", line)
            printed = " ".join(self.type(line).split())
            for part in shown:
                self.assertIn(" ".join(part.split()), printed, line)
            ran.add(words[1])
        if page.stem in WITHOUT_PLANS:
            return
        self.assertTrue(ran & {"plan", "check"}, "the page plans nothing")
        if page.stem not in PLANNED_ONLY:
            self.assertLessEqual({"apply", "destroy"}, ran)
            self.assert_nothing_left()


def following(page):
    return lambda guide: guide.follow(page)


for each in PAGES:
    if each.stem not in RUN_BY_OTHERS:
        setattr(Guide, "test_" + each.stem.replace("-", "_"), following(each))


if __name__ == "__main__":
    unittest.main()

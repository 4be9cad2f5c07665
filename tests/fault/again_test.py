"""kill -9 of radlc in the middle of a step, then apply again: what was going on a node is never run beside itself."""
import os
import pathlib
import signal
import unittest

from radl_case import RadlCase

# Says so when another one of it is still alive; goes on until `go` is there.
BODY = ("for r in running.*; do [ -e $r ] && kill -0 $(echo $r | cut -d. -f2) 2>/dev/null && echo $r >> overlaps; done; "
        "touch running.$$; echo begun >> begun; while [ ! -e go ]; do sleep 0.1; done; rm running.$$")
NATIVE = f"""radl 2
system box ( cpu.count >= 1, memory.size >= 64M )
configure work ( command 'cd $HOME; {BODY}' ( timeout = 500 ) )
deploy box 1
contextualize ( system box configure work step 1 )
"""
ANSIBLE = f"""system box ( cpu.count >= 1 and memory.size >= 64m )
configure work (
@begin
- tasks:
  - shell: "cd $HOME; {BODY}"
@end
)
deploy box 1
contextualize ( system box configure work step 1 )
"""


class Again(RadlCase):
    def files(self, name):
        return self.found(os.path.join("work", "nodes", "**", name))

    def begun(self):
        return sum(p.read_text().count("begun") for p in self.files("begun"))

    def named(self, *programs):
        """Processes of this test that run one of these programs on this machine."""
        found = []
        for pid in self.processes():
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(os.path.basename(word).decode(errors="replace") in programs or word.startswith(b"ssh: ")
                   for word in words[:2]):
                found.append((pid, b" ".join(words)[:80]))
        return found

    def kill_and_apply_again(self, text, local_programs=()):
        self.write("site.radl", text)
        first = self.start("apply", "--auto-approve", "site.radl")
        self.wait_until(lambda: self.begun() == 1 or first.poll() is not None, 120, "it does not begin")
        if first.poll() is not None:
            self.fail(first.communicate())
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        if local_programs:
            self.wait_until(lambda: not self.named(*local_programs), 40, lambda: f"go on: {self.named(*local_programs)}")
        second = self.start("apply", "--auto-approve", "site.radl")
        self.wait_until(lambda: self.begun() == 2 or second.poll() is not None, 120, "it is not run again")
        begun = self.begun()
        for path in self.files("begun"):
            (path.parent / "go").touch()
        out, err = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 0, out + err)
        self.assertEqual(begun, 2, out + err)
        self.assertEqual([p.read_text() for p in self.files("overlaps")], [], "two of it ran at once")
        self.assertIn("had been running there since", out + err)
        self.radlc("destroy", "--auto-approve", "site.radl")

    def test_a_native_command(self):
        self.kill_and_apply_again(NATIVE)

    def test_an_ansible_task(self):
        self.kill_and_apply_again(ANSIBLE, ("ansible-playbook", "ssh", "sftp"))


if __name__ == "__main__":
    unittest.main()

"""What radlc was given in confidence is in no core file of it, and in no program that it starts."""
import glob
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SENTINEL = "sentinel-5f2c9e71"
PROGRAM = "radl 2\ninput token ( sensitive = true )\nnetwork n ()\nsystem a ( net_interface.0.connection = 'n' )\n"


def dumps_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Cores(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-cores-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        (self.at / "a.radl").write_text(PROGRAM)

    def crashed(self, command, ready):
        """Begins it with the sentinel in its environment, waits until it is ready, and lets it crash."""
        try:
            process = subprocess.Popen(command, cwd=self.at, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, preexec_fn=dumps_cores,
                                       env={**os.environ, "RADL_INPUT_token": SENTINEL, "AWS_SECRET_ACCESS_KEY": SENTINEL})
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"no core files of any size here: {error}")
        with process:
            until = time.monotonic() + 60
            while not ready(process.pid):
                self.assertIsNone(process.poll(), "it has ended by itself")
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)
            process.send_signal(signal.SIGSEGV)
            process.wait(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        cores = glob.glob(str(self.at / "core*"))
        held = [name for name in cores if SENTINEL.encode() in pathlib.Path(name).read_bytes()]
        for name in cores:
            os.remove(name)
        return held

    def test_a_core_holds_nothing_of_a_secret(self):
        if not self.crashed(["cat"], lambda pid: os.readlink(f"/proc/{pid}/exe").endswith("cat")):
            self.skipTest("this kernel writes core files elsewhere: " +
                          pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip())

        def forbids(pid):
            limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
            return [line.split()[4] for line in limits.splitlines() if line.startswith("Max core file size")] == ["0"]
        self.assertEqual(self.crashed([RADLC, "console", "a.radl"], forbids), [])


if __name__ == "__main__":
    unittest.main()

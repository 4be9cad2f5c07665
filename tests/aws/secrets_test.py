"""No secret of a whole run is in anything that the run leaves or shows: outputs, state, plans, logs, events, command lines, user data."""
import pathlib
import threading
import unittest

from aws_case import SYSTEM, AwsCase

PASSWORD = "Horse-battery9-staple"
FILE = f"""radl 2
input password ( type = 'string', sensitive = yes )
input word ( type = 'string', default = 'one' )
network lan ( outbound = 'no' )
system node ( instance_type = 't3.micro', net_interface.0.connection = 'lan', {SYSTEM} )
configure login ( file '~/login' ( content = '${{input.word}} ${{input.password}}', mode = '0600' ) )
contextualize ( system node configure login step 1 )
deploy node 2 ec2
output login ( value = 'admin:${{input.password}}', sensitive = yes )
"""


class CommandLines(threading.Thread):
    """All command lines of this computer, looked at again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self._done = set(), threading.Event()
        self.start()

    def run(self):
        while not self._done.wait(0.005):
            for entry in pathlib.Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        self.seen.add((entry / "cmdline").read_bytes())
                    except OSError:
                        pass

    def close(self):
        self._done.set()
        self.join()


class Secrets(AwsCase):
    def radlc(self, *arguments, **options):
        out = super().radlc(*arguments, **options)
        self.shown.append((" ".join(map(str, arguments)), (out + self.err).encode()))
        return out

    def setUp(self):
        super().setUp()
        self.shown = []
        self.environment["RADL_INPUT_password"] = PASSWORD
        self.session = self.moto.session_keys()
        self.environment.update(AWS_ACCESS_KEY_ID=self.session["aws_access_key_id"],
                                AWS_SECRET_ACCESS_KEY=self.session["aws_secret_access_key"],
                                AWS_SESSION_TOKEN=self.session["aws_session_token"])
        self.file = self.write("site.radl", FILE)

    def test_no_secret_is_shown_or_kept(self):
        lines = CommandLines()
        self.addCleanup(lines.close)
        self.radlc("plan", self.file)
        self.radlc("plan", "--json", "--full", "--out", "saved.plan", self.file)
        self.radlc("plan", "--html", "plan.html", self.file)
        self.radlc("apply", "--auto-approve", "--log-json", "events.jsonl", "saved.plan")
        self.assertIn(PASSWORD, (self.machines.machine(self.ours()[0]["InstanceId"]).home / "login").read_text())
        data = [self.machines.user_data(i["InstanceId"]) for i in self.ours()]
        self.radlc("apply", "--auto-approve", "--log-json", "change.jsonl", self.file, "--input", "word=two")
        for command in (("show", "--json"), ("output",), ("state", "export"), ("plan", "--refresh", "--json")):
            self.radlc(*command, self.file, code=None)
        kept = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        # The login's key is in one file, for its owner alone; nothing of it may be elsewhere.
        keys = [path for path, content in kept.items() if b"PRIVATE KEY-----" in content]
        self.assertEqual([path.stat().st_mode & 0o077 for path in keys], [0] * len(keys))
        self.assertEqual(len(keys), 1, keys)
        key = next(line for line in kept.pop(keys[0]).splitlines()[2:] if len(line) > 40)
        self.moto.deny_everything()
        self.radlc("destroy", "--auto-approve", self.file, code=2)  # a message about keys that are refused
        self.moto.allow_everything()
        self.radlc("destroy", "--auto-approve", self.file)
        lines.close()
        secrets = {"password": PASSWORD.encode(), "secret key": self.session["aws_secret_access_key"].encode(),
                   "session token": self.session["aws_session_token"].encode(), "private key": key}
        places = self.shown + [(str(path), content) for path, content in kept.items()]
        places += [("command line", line) for line in lines.seen] + [("user data", each) for each in data]
        self.assertGreater(len(places), 20)
        found = [(name, place) for place, content in places for name, secret in secrets.items() if secret in content]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()

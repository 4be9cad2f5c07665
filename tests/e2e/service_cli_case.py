"""What the tests of `radlc --server` share: a service, and the command line on it."""
from page_case import PageCase
from radl_case import found

NODE = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
"""


class ServiceCliCase(PageCase):
    def setUp(self):
        super().setUp()
        self.environment["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.file = self.folder / "one.radl"
        self.file.write_text(NODE)

    def log_in(self, url=None):
        return self.radlc("login", url or self.host, "--token-file", self.folder / "service/token")

    def release(self):
        (found(self.folder / "service", "home")[0] / "release").touch()

    def on_service(self, *arguments, code=0):
        return self.radlc("--server", self.host, *arguments, code=code)

    def named(self, name):
        return [one for one in self.get("/infrastructures")["infrastructures"] if one["name"] == name]

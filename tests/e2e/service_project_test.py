"""Whole projects by `radlc --server`: several files, modules, inputs and files, and every command for what came of them."""
import json
import re

from service_cli_case import ServiceCliCase

WORKERS = """radl 2
use './modules/named' as named (word = input.word)
input word (type = string)
input token (type = string, sensitive = yes)
input count (type = integer, default = 1)
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
configure told (
  command 'echo it $((40+2)) $TOLD' (environment = { TOLD = file('./data/told.txt') })
)
contextualize (system worker configure told step 1)
"""
DEPLOY = """radl 2
deploy worker input.count
output told (value = [file('../data/told.txt'), named.said])
output secret (value = input.token, sensitive = yes)
"""
NAMED = "radl 2\ninput word (type = string)\noutput said (value = input.word)\n"


class ServiceProjectTest(ServiceCliCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("project/workers.radl", WORKERS)
        self.files = [self.file, self.write("project/parts/deploy.radl", DEPLOY)]
        self.write("project/modules/named.radl", NAMED)
        self.told = self.write("project/data/told.txt", "told")
        self.write("project/data/unnamed.txt", "stays here")
        self.inputs = ["--input-file", self.write("project/inputs.json", json.dumps({"word": "aloud", "token": "s3cr3t-0f-4na"}))]
        self.environment["RADL_INPUT_count"] = "2"
        self.log_in()

    def on_service(self, *arguments, code=0):
        """No text that a client gets names a path of the service."""
        out = super().on_service(*arguments, code=code)
        for text in (out, self.err):
            self.assertNotIn(str(self.folder / "service"), text)
        return out

    def uploaded(self):
        (one,) = self.named("workers")
        return [file["path"] for file in self.get(f"/infrastructures/{one['id']}/files")["files"]]

    def test_a_project_from_its_plan_to_its_end(self):
        local = self.radlc("plan", *self.files, *self.inputs, "--cloud", "local")
        self.assertEqual(self.on_service("plan", *self.files, *self.inputs), local)
        self.assertEqual(self.radlc("plan", *self.files, *self.inputs, "--cloud", "local", "--dot"), self.on_service("plan", *self.files, *self.inputs, "--dot"))
        self.on_service("plan", *self.files, *self.inputs, "--html", self.folder / "plan.html")
        self.assertIn("<html", (self.folder / "plan.html").read_text())
        self.on_service("apply", *self.files, *self.inputs, "--auto-approve", "--log-json", self.folder / "events")
        self.assertEqual(self.events(self.folder / "events")[-1]["event"], "run_finished")
        self.assertEqual(self.uploaded(), ["data/told.txt", "modules/named.radl", "parts/deploy.radl", "workers.radl"])
        self.assertEqual(json.loads(self.on_service("output", self.file, "told", "--json")), ["told", "aloud"])
        self.assertEqual(self.on_service("output", self.file, "secret"), "secret = (sensitive)\n")
        # The service stores a secret only in the state, and only because the file declares it as an output.
        for path in (self.folder / "service").rglob("*"):
            if path.is_file() and "/state/" not in str(path) and "/home/" not in str(path):
                self.assertNotIn(b"s3cr3t-0f-4na", path.read_bytes(), path)
        state = json.loads(self.on_service("show", self.file, "--json"))
        self.assertEqual([r["address"] for r in state["resources"] if "system" in r], ["worker[0]", "worker[1]"])
        self.assertIn("worker[1]", self.on_service("show", self.file))
        self.assertIn("it 42", self.on_service("logs", self.file, "worker[1]"))
        self.assertEqual(self.on_service("logs", self.file, "worker[1]", "-n", "1").count("\n"), 1)
        self.on_service("logs", self.file, "nothing", code=1)
        self.assertEqual([row["name"] for row in json.loads(self.on_service("list", "--json"))], ["workers"])
        self.assertIn("workers", self.on_service("list"))
        self.assertIs(json.loads(self.on_service("plan", *self.files, *self.inputs, "--json"))["changes"], False)
        self.assertNotIn("uploading", self.err)
        self.on_service("cancel", self.file, "program/none", code=1)
        self.on_service("destroy", self.file, "--auto-approve")
        self.assertRegex(self.on_service("destroy", self.file, "--auto-approve"), "^Nothing to destroy")
        self.on_service("destroy", "--name", "workers", "--auto-approve", code=1)
        self.on_service("show", self.file, code=0)

    def test_nodes_are_scaled_replaced_and_targeted(self):
        apply = ["--auto-approve", *self.inputs]
        self.on_service("apply", *self.files, *apply)
        nodes = lambda: [r["address"] for r in json.loads(self.on_service("show", self.file, "--json"))["resources"] if "system" in r]
        made = lambda: {r["address"]: r["created_at"] for r in json.loads(self.on_service("show", self.file, "--json"))["resources"]}
        self.on_service("scale", *self.files, "worker", "+1", *apply)
        self.assertEqual(nodes(), ["worker[0]", "worker[1]", "worker[2]"])
        self.on_service("scale", *self.files, "worker", "--node", "worker[0]", *apply)
        self.assertEqual(nodes(), ["worker[1]", "worker[2]"])
        self.on_service("scale", *self.files, "worker", "--reset", *apply)
        self.assertEqual(nodes(), ["worker[0]", "worker[1]"])
        before = made()
        self.on_service("apply", *self.files, *apply, "--replace", "worker[1]")
        self.assertEqual([address for address, when in made().items() if when != before[address]], ["worker[1]"])
        self.assertRegex(self.on_service("plan", *self.files, *self.inputs, "--replace", "worker[0]", "--target", "worker[0]", "--brief"), "^Plan: ")
        self.on_service("destroy", self.file, "--auto-approve", "--target", "worker[1]")
        self.assertEqual(nodes(), ["worker[0]"])
        (one,) = self.named("workers")
        self.assertEqual(one["state"], "ready")

    def test_errors_are_those_of_the_files(self):
        self.file.write_text(WORKERS.replace("'lan'", "'nothing'"))
        self.on_service("plan", *self.files, *self.inputs, code=1)
        self.assertRegex(self.err, r"workers\.radl:\d+:\d+")
        self.file.write_text(WORKERS.replace("'./data/told.txt'", f"'{self.told}'"))
        self.on_service("plan", *map(str, (f.relative_to(self.folder) for f in self.files)), *self.inputs, code=1)
        self.assertIn("absolute path", self.err)

    def test_a_property_that_names_a_file_by_an_absolute_path_is_refused(self):
        """The service would read a file of its own there, or find none."""
        outside, inside = self.write("outside.txt", "of the laptop"), self.write("project/data/inside.txt", "of the laptop")
        template = """radl 2
input place (type = string, default = './data/inside.txt')
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
configure told ( file '/tmp/told-by-a-laptop' ( source = PLACE ) )
deploy worker 1
contextualize (system worker configure told step 1)
"""
        for place, more in ((f"'{outside}'", ()), (f"'{inside}'", ()), ("input.place", ("--input", f"place={inside}"))):
            self.file.write_text(template.replace("PLACE", place))
            self.on_service("plan", self.file, *more, code=1)
            self.assertRegex(self.err, r"(inside|outside)\.txt is named by an absolute path", place)
            self.assertEqual(self.get("/infrastructures")["infrastructures"], [])
        self.file.write_text(template.replace("PLACE", "input.place"))
        self.on_service("plan", self.file)
        self.assertNotIn("absolute", self.err)

    def test_a_run_is_cancelled_by_its_id(self):
        self.file.write_text(WORKERS.replace("echo it", "until [ -e ~/release ]; do sleep 0.05; done; echo it"))
        self.on_service("apply", *self.files, *self.inputs, "--auto-approve", "--detach")
        run = re.search(r"(\S+) runs on", self.err)[1]
        (one,) = self.named("workers")
        self.wait_until(lambda: self.get(f"/infrastructures/{one['id']}")["running"], 120)
        self.on_service("cancel", self.file, run)
        self.on_service("cancel", self.file, run, code=None)  # the first may have ended it
        self.on_service("wait", self.file, code=130)
        self.on_service("cancel", self.file, run, code=2)  # it is over

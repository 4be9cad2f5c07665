"""Commands of radlc around what is applied, run as programs on local nodes without recipes."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
FILE = ("network n ()\nsystem a (net_interface.0.connection = 'n')\nsystem b (net_interface.0.connection = 'n')\n"
        "deploy a %d\ndeploy b %d\n")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-states-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.environment = {**os.environ, "XDG_STATE_HOME": str(self.at / "user"), "RADL_LOCAL_ISOLATION": "off",
                            "RADL_LOCAL_NETWORK": "shared"}

    def project(self, name, a=1, b=1):
        path = self.at / name / (name + ".radl")
        path.parent.mkdir(exist_ok=True)
        path.write_text(FILE % (a, b))
        self.addCleanup(self.run_it, "destroy", "--auto-approve", path)
        return path

    def run_it(self, *arguments):
        return subprocess.run([RADLC, *map(str, arguments)], cwd=self.at, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, env=self.environment)

    def good(self, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def fails(self, said, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(said, done.stderr)

    def addresses(self, path):
        return self.good("state", "list", path).split()


class List(Case):
    def test_an_apply_that_created_nothing_is_not_listed(self):
        path = self.project("one")
        self.assertEqual(self.run_it("apply", path).returncode, 1)  # nobody can say yes
        self.assertEqual(self.run_it("list").stdout, "")
        self.assertEqual(json.loads(self.run_it("list", "--json").stdout), [])
        self.good("apply", "--auto-approve", path)
        self.assertEqual(len(self.good("list").splitlines()), 1)

    def test_all_infrastructures_wherever_they_are(self):
        one, two = self.project("one"), self.project("two", a=2)
        for path in (one, two):
            self.good("apply", "--auto-approve", path)
        lines = self.good("list").splitlines()
        self.assertEqual([line.split()[:3] for line in lines], [["one", "2", "nodes"], ["two", "3", "nodes"]])
        self.assertTrue(lines[1].endswith(str(self.at / "two/.radl")), lines)
        listed = json.loads(self.good("list", "--json"))
        self.assertEqual([(each["name"], each["resources"], each["price_per_hour"]) for each in listed],
                         [("one", 4, []), ("two", 5, [])])
        index = self.at / "user/radlc/infrastructures.json"
        self.assertEqual(stat.S_IMODE(index.stat().st_mode), 0o600)
        self.good("destroy", "--auto-approve", one)
        self.assertNotIn("one", index.read_text())
        index.unlink()  # lost: the next apply of each writes it again
        self.assertEqual(self.run_it("list").stdout, "")
        self.good("apply", "--auto-approve", two)
        self.assertEqual(len(self.good("list").splitlines()), 1)

    def test_a_list_that_cannot_be_written_stops_nothing(self):
        path = self.project("one")
        (self.at / "user").write_text("in the way of the folder")
        done = self.run_it("apply", "--auto-approve", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("note: `radlc list` will not show one: ", done.stderr)
        self.assertEqual(self.run_it("destroy", "--auto-approve", path).returncode, 0)


class Ownership(Case):
    def node_runs(self, path, node):
        process = json.loads((path.parent / ".radl" / path.stem / "work/nodes" / node / "run/process.json").read_text())
        return os.path.exists("/proc/%d" % process["pid"])

    def node_of(self, path, address):
        return json.loads(self.good("state", "show", "--json", path, address))["id"]

    def test_what_was_released_goes_on_running_and_keeps_no_destroy_from_its_end(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        node = self.node_of(path, "a[0]")
        self.assertIn(node, self.good("state", "rm", path, "a[0]"))
        self.addCleanup(self.run_it, "destroy", "--auto-approve", path, "--also", node)
        for _ in range(2):
            done = self.run_it("destroy", "--auto-approve", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(node, done.stderr)
            self.assertNotIn("Nothing is left", done.stdout)
            self.assertTrue(self.node_runs(path, node))
            self.assertEqual(self.addresses(path), ["key.local", "network.n"], "it uses them")
        done = self.run_it("destroy", "--auto-approve", path, "--also", node)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Nothing is left", done.stdout)
        self.assertFalse((path.parent / ".radl").exists())

    def test_what_was_released_can_be_imported_again(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        node = self.node_of(path, "a[0]")
        self.good("state", "rm", path, "a[0]")
        self.good("import", path, "a[0]", node)
        self.assertEqual(self.node_of(path, "a[0]"), node)
        self.assertIn("Nothing is left", self.good("destroy", "--auto-approve", path))

    def test_an_id_that_nothing_has_is_refused(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        self.assertEqual(self.run_it("destroy", "--auto-approve", path, "--also", "no-such-node").returncode, 1)
        self.assertEqual(len(self.addresses(path)), 4, "nothing was destroyed")

    def test_a_copy_of_a_project_destroys_nothing_of_the_original(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        node = self.node_of(path, "a[0]")
        copy = self.at / "copy" / "one.radl"
        shutil.copytree(path.parent, copy.parent)
        place = ("--state", copy.parent / ".radl", "--name", "one")
        for command in (("apply", "--auto-approve", copy), ("destroy", "--auto-approve", *place),
                        ("state", "rm", "a[0]", *place)):
            done = self.run_it(*command)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn(str(path.parent.resolve()), done.stderr, command)
        self.assertTrue(self.node_runs(path, node))
        self.assertIn("copy of", self.good("plan", copy))
        self.good("state", "discard", *place)
        self.assertFalse((copy.parent / ".radl").exists())
        self.assertTrue(self.node_runs(path, node))
        self.assertEqual(self.run_it("state", "discard", path).returncode, 2, "it is no copy")

    def test_a_clone_of_the_whole_disk_is_a_copy(self):
        """Same machine-id, host name, folder and inode: the computer's network hardware alone differs."""
        def on_computer(address, *arguments):
            card = self.at / "net" / "eth0"
            (card / "device").mkdir(parents=True, exist_ok=True)
            (card / "addr_assign_type").write_text("0\n")
            (card / "address").write_text(address + "\n")
            inside = f'mount --bind {self.at}/net /sys/class/net && exec "$@"'
            return subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", inside, "sh", RADLC, *map(str, arguments)], cwd=self.at,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=self.environment)
        first, second = "02:00:5e:00:53:01", "02:00:5e:00:53:02"
        path = self.project("one")
        if on_computer(first, "version").returncode != 0:
            self.skipTest("no mount namespaces here")
        self.assertEqual(on_computer(first, "apply", "--auto-approve", path).returncode, 0)
        for command in (("apply", "--auto-approve", path), ("destroy", "--auto-approve", path)):
            done = on_computer(second, *command)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn("machine-id", done.stderr, command)
        self.assertIn("copy of", on_computer(second, "plan", path).stdout)
        self.assertEqual(on_computer(first, "apply", "--auto-approve", path).returncode, 0, "the original goes on")
        self.assertEqual(on_computer(second, "state", "adopt", path).returncode, 0)
        self.assertEqual(on_computer(second, "destroy", "--auto-approve", path).returncode, 0)

    def test_a_moved_project_is_no_copy(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        moved = self.at / "moved" / "one.radl"
        path.parent.rename(moved.parent)
        self.addCleanup(self.run_it, "destroy", "--auto-approve", moved)
        self.good("state", "history", moved)
        self.assertEqual(self.run_it("destroy", "--auto-approve", moved).returncode, 0)

    def test_tags_that_would_replace_radlcs_own_are_refused_at_plan(self):
        path = self.project("one")
        path.write_text(path.read_text().replace("'n')", "'n' and instance_tags = 'radlc:infrastructure=mine')", 1))
        self.fails("radlc", "plan", path)


class Target(Case):
    def test_only_a_part_is_made_and_only_a_part_goes(self):
        path = self.project("one", a=2)
        said = self.good("apply", "--auto-approve", path, "--target", "a[1]")
        self.assertIn("2 other changes are left out", said)
        self.assertEqual(self.addresses(path), ["a[1]", "key.local", "network.n"])
        self.good("apply", "--auto-approve", path, "--target", "a")
        self.assertEqual(self.addresses(path), ["a[0]", "a[1]", "key.local", "network.n"])
        self.good("apply", "--auto-approve", path)
        said = self.good("destroy", "--auto-approve", path, "--target", "a", "--target", "b[0]")
        self.assertIn("2 resources stay", said)
        self.assertEqual(self.addresses(path), ["key.local", "network.n"])
        self.assertEqual(len(self.good("list").splitlines()), 1)
        self.fails("--target c: no such", "plan", path, "--target", "c")
        self.fails("--target c: no such", "destroy", "--auto-approve", path, "--target", "c")

    def test_the_rest_lives_on(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        self.good("destroy", "--auto-approve", path, "--target", "a[0]")
        self.assertIn("No changes", self.good("plan", "--refresh", path, "--target", "b"))
        self.assertIn("+ a[0]", self.good("plan", path))

    def test_a_saved_plan_for_a_part_is_applied_as_it_is(self):
        path = self.project("one")
        self.good("plan", path, "--target", "b", "--out", "part")
        self.fails("--target belong to `radlc plan`", "apply", "part", "--target", "a")
        self.good("apply", "part")
        self.assertEqual(self.addresses(path), ["b[0]", "key.local", "network.n"])


class State(Case):
    def test_a_record_and_all_of_them(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        shown = self.good("state", "show", path, "a[0]")
        self.assertRegex(shown, r"(?m)^cloud +'local'$")
        self.assertRegex(shown, r"(?m)^spec\n  hostname  ")
        record = json.loads(self.good("state", "show", path, "network.n", "--json"))
        self.assertEqual((record["address"], record["type"], record["cloud"]), ("network.n", "network", "local"))
        whole = json.loads(self.good("state", "export", path))
        self.assertEqual([each["address"] for each in whole["resources"]], ["a[0]", "b[0]", "key.local", "network.n"])
        self.assertEqual([each["command"] for each in whole["history"]], ["apply"])
        self.assertIn(record, whole["resources"])
        self.fails("the state has no x", "state", "show", path, "x")

    def test_what_was_forgotten_is_taken_in_again(self):
        path = self.project("one")
        self.good("apply", "--auto-approve", path)
        identity = json.loads(self.good("state", "show", path, "a[0]", "--json"))["id"]
        self.assertIn("Released a[0]: %s keeps running" % identity, self.good("state", "rm", path, "a[0]"))
        self.assertIn("+ a[0]", self.good("plan", path))
        self.fails("has nothing with the id", "import", path, "a[0]", "nothing-like-it")
        self.fails("the file declares no resource", "import", path, "c[0]", identity)
        self.assertIn("a[0] is %s of local now" % identity, self.good("import", path, "a[0]", identity))
        self.assertIn("No changes", self.good("plan", "--refresh", path))
        self.fails("is in the state already", "import", path, "a[0]", identity)


class Cloud(Case):
    def test_it_is_named_by_either_option(self):
        path = self.project("one")
        for option in ("--cloud", "--provider"):
            self.assertIn("+ a[0]", self.good("plan", path, option, "local"))
            self.fails("unknown cloud 'lokal'; supported: ", "plan", path, option, "lokal")
        self.assertIn("did you mean local?", self.run_it("plan", path, "--cloud", "lokal").stderr)

    def only_clouds(self, **variables):
        """An environment in which these variables alone say something of clouds."""
        kept = {name: value for name, value in self.environment.items()
                if not name.startswith(("AWS_", "OS_", "GOOGLE_", "CLOUDSDK_", "AZURE_", "RADL_AUTH", "IM_AUTH"))}
        self.environment = {**kept, "HOME": str(self.at), "XDG_CONFIG_HOME": str(self.at / "config"), **variables}

    def machines(self, path, *arguments):
        plan = json.loads(self.good("plan", "--json", path, *arguments))
        return {each["id"]: each["cloud"].partition(":")[0] for each in plan["actions"] if each["id"].endswith("]")}

    def test_without_one_an_image_says_where_its_node_goes(self):
        self.only_clouds()
        path = self.at / "images.radl"
        path.write_text("system a (disk.0.image.url = 'aws://eu-west-1/ami-0123456789abcdef0' and cpu.count >= 2)\n"
                        "system b ()\nsystem c (soft 3 (disk.0.image.url = 'gce://europe-west1/debian-12'))\n"
                        "deploy a 1\ndeploy b 1\ndeploy c 1\n")
        self.assertEqual(self.machines(path), {"a[0]": "ec2", "b[0]": "local", "c[0]": "gce"})
        self.assertEqual(set(self.machines(path, "--cloud", "local").values()), {"local"})
        path.write_text("system a (disk.0.image.url = 'azr://Debian/debian-12/12-gen2/latest')\ndeploy a 1\n")
        self.fails("its image is for azure (`--cloud local` would try it on this computer)", "plan", path)

    def test_clouds_with_credentials_are_compared_where_the_file_leaves_it_open(self):
        path = self.at / "open.radl"
        path.write_text("system a (cpu.count >= 4 and memory.size >= 8g)\ndeploy a 2\n")
        self.only_clouds()
        plain = self.good("plan", path)
        (self.at / "key.json").write_text(json.dumps({"type": "authorized_user", "client_id": "c", "client_secret": "s",
                                                      "refresh_token": "r"}))
        self.only_clouds(AWS_ACCESS_KEY_ID="AKIATEST", AWS_SECRET_ACCESS_KEY="s3cr3t-of-aws", AWS_REGION="eu-west-1",
                         GOOGLE_APPLICATION_CREDENTIALS=str(self.at / "key.json"), CLOUDSDK_CORE_PROJECT="p",
                         CLOUDSDK_COMPUTE_REGION="us-central1")
        elsewhere = json.loads(self.good("plan", "--json", path))["elsewhere"]
        self.assertEqual({each["name"] for each in elsewhere}, {"ec2", "gce"})
        prices = [each["price_per_hour"][0]["micros"] for each in elsewhere]
        self.assertEqual(prices, sorted(prices))
        for each in elsewhere:  # the figures are those of a plan for that cloud
            there = json.loads(self.good("plan", "--json", path, "--cloud", each["name"]))
            self.assertEqual(there["totals"]["price_per_hour"], each["price_per_hour"])
            self.assertNotIn("elsewhere", there)
        planned = self.run_it("plan", path)
        self.assertEqual(planned.stdout, plain, "the plan is the same for whoever makes it")
        self.assertIn("note: with the credentials there are, by the catalogue: %s " % elsewhere[0]["name"], planned.stderr)
        self.assertIn("(`--cloud %s`)" % elsewhere[0]["name"], planned.stderr)
        self.assertNotIn("s3cr3t", planned.stderr)


if __name__ == "__main__":
    unittest.main()

"""cloud-init itself reads what radlc gives a machine: recipes of every kind, put together, and the script that ends the machine."""
import email
import subprocess
import tempfile
import unittest

from aws_case import USER, AwsCase
from cloud_init_program import program
from cloud_init_view import CloudInitView
from moto_site import DEBIAN, REGION
from node_view import own_view_works

SEEN = "/var/lib/seen"
# YAML without a first line of its own, as in files of the Infrastructure Manager, and each first line that needs no network.
RECIPES = f"""
configure settings (
@begin
write_files:
  - path: {SEEN}/settings
    permissions: '0640'
    content: |
      one: "two"
hostname: not-this-one
runcmd:
  - [sh, -c, 'echo settings >> {SEEN}/order']
@end
)
configure more (
@begin
#cloud-config
write_files:
  - path: {SEEN}/more
    encoding: b64
    content: R3LDvMOfZQo=
runcmd:
  - echo "more $(hostname -f)" >> {SEEN}/order
@end
)
configure template (
@begin
## template: jinja
#cloud-config
write_files:
  - path: {SEEN}/template
    content: "{{{{ v1.instance_id }}}}"
@end
)
configure hook (
@begin
#cloud-boothook
#!/bin/sh
mkdir -p {SEEN}
echo "hook $INSTANCE_ID" > {SEEN}/hook
@end
)
configure late (
@begin
#!/bin/sh
sleep 1
echo 'Grüße' >> {SEEN}/order
@end
)
configure after ( command 'cp -r {SEEN} ~/seen' ( creates = '~/seen' ) )
contextualize (
  system node configure settings with cloud_init
  system node configure more with cloud_init
  system node configure template with cloud_init
  system node configure hook with cloud_init
  system node configure late with cloud_init
  system node configure after step 1
)
"""
FILE = f"""radl 2
network lan ( outbound = 'no' )
system node (
  instance_type = 't3.micro', stop.after = '8h', disk.0.image.url = 'aws://{REGION}/{DEBIAN}/debian-12-amd64-*'
  disk.0.os.credentials.username = '{USER}', net_interface.0.connection = 'lan', net_interface.0.dns_name = 'node-#N#.example.org'
)
{RECIPES}
deploy node 1 ec2
"""


@unittest.skipUnless(own_view_works(), "a machine for cloud-init needs a view of the file system of its own: not root")
class CloudInit(AwsCase):
    kind = CloudInitView

    @classmethod
    def setUpClass(cls):
        found, why = program()
        if not found:
            raise unittest.SkipTest(why)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def machine(self):
        (instance,) = self.ours()
        return self.machines.machine(instance["InstanceId"])

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def said(self):
        return (self.machine().folder / "run/cloud-init.log").read_text()

    def test_every_recipe_has_run_before_the_first_step(self):
        self.radlc("apply", "--auto-approve", self.file)
        machine = self.machine()
        seen = {path.name: path.read_text() for path in (machine.home / "seen").iterdir()}
        self.assertEqual(seen, {
            "settings": 'one: "two"\n', "more": "Grüße\n", "template": machine.name, "hook": f"hook {machine.name}\n",
            "order": "Grüße\nsettings\nmore node-0.example.org\n"}, self.said())  # runcmd comes behind scripts
        self.assertEqual((machine.home / "seen/settings").stat().st_mode & 0o777, 0o640)
        self.assertIn("auto-stop", self.radlc("exec", self.file, "node[0]", "--", "ps", "-e", "-o", "args"))
        self.assertIn("node-0\n", self.radlc("exec", self.file, "node[0]", "--", "hostname"))
        # Nothing of it is what cloud-init would not know.
        for part in email.message_from_bytes(machine.user_data).walk():
            if part.get_content_type() == "text/cloud-config":
                with tempfile.NamedTemporaryFile() as one:
                    one.write(part.get_payload(decode=True))
                    one.flush()
                    self.schema(one.name)
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.destroy()

    def schema(self, path):
        places = f"{program()[0]}/usr/lib/python3/dist-packages"
        code = f"import sys; sys.path.insert(0, {places!r}); from cloudinit.cmd.main import main; sys.exit(main(['cloud-init', 'schema', '-c', {path!r}]))"
        done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_recipe_that_fails_fails_its_step_with_what_cloud_init_says(self):
        self.edit(self.file, ("sleep 1\n", "echo no such luck >&2\nexit 3\n"))
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertRegex(self.err, r"(?s)node\[0\]: recipe '\w+' is for cloud_init, which ended with an error there: .*scripts.user")
        self.assertIn("/var/log/cloud-init-output.log", self.err)
        self.assertIn("no such luck", self.said())
        self.destroy()


if __name__ == "__main__":
    unittest.main()

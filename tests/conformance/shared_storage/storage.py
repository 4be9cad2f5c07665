"""Folders that nodes share: a program's checkpoints outlive the node that wrote them; only members reach them; no key is left behind."""
import json
import pathlib
import shutil
import subprocess
import unittest

import minio_program
from radl_case import SOURCE, RadlCase


def kernel_has_nfs():
    if shutil.which("modprobe"):
        subprocess.run(["modprobe", "nfs4"], capture_output=True, check=False)
    return "nfs4" in pathlib.Path("/proc/filesystems").read_text()


KERNEL_HAS_NFS = kernel_has_nfs()


class Folders(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples/shared-folder", self.folder / "shared-folder")
        self.results = self.folder / "shared-folder/results"

    def apply(self, file, *given, **options):
        return self.radlc("apply", "-y", file, *given, "--input", "results=./results", timeout=300, **options)

    def counted(self):
        metrics = json.loads((self.results / "report.json").read_text())["metrics"]
        return metrics["begins_at"], metrics["count"]

    def on(self, file, node, command, code=0):
        return self.radlc("exec", file, node, "-c", command, code=code)

    def goes_on_elsewhere(self, file, *given):
        """Counts on two nodes, takes the one that wrote away, and counts on from there on the other."""
        self.apply(file, *given)
        self.assertEqual(self.counted(), (0, 40))
        self.assertIn("No changes", self.apply(file, *given))
        self.radlc("scale", "-y", file, *given, "--input", "results=./results", "worker", "1", "--node", "worker[0]", timeout=300)
        self.apply(file, *given, "--input", "last=60")
        self.assertEqual(self.counted(), (40, 60), "the other node does not see the checkpoint")

    def destroy(self, file):
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left(state="shared-folder/.radl")


class Nfs(Folders):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "shared-folder/nfs.radl"

    @unittest.skipUnless(KERNEL_HAS_NFS, "the kernel here has no NFS client")
    def test_a_program_goes_on_from_its_checkpoint_on_another_node(self):
        self.goes_on_elsewhere(self.file)
        self.destroy(self.file)

    @unittest.skipIf(KERNEL_HAS_NFS, "the kernel here has an NFS client")
    def test_a_kernel_without_nfs_is_a_clear_error(self):
        self.apply(self.file, code=2)
        self.assertIn("has no NFS client: it cannot mount /srv/shared", self.err)
        self.destroy(self.file)

    @unittest.skipIf(KERNEL_HAS_NFS, "the kernel here may have an NFS server")
    def test_a_kernel_without_a_server_of_nfs_is_a_clear_error(self):
        self.edit(self.file, ("clients = system.worker\n", "clients = system.worker\n  kernel = yes\n"))
        self.apply(self.file, code=2)
        self.assertIn("has no NFS server", self.err)
        self.destroy(self.file)

    @unittest.skipUnless(shutil.which("nfs-cp"), "there is no libnfs here (package libnfs-utils)")
    def test_members_write_and_read_and_nobody_else_does(self):
        # The mount of the kernel is another test: here the protocol is spoken by libnfs.
        library = self.folder / "library"
        shutil.copytree(SOURCE / "stdlib", library)
        module = library / "storage/nfs.radl"
        text = module.read_text()
        client = text[text.index("configure client ("):text.index("contextualize (")]
        self.edit(module, (client, "configure client ( package 'nfs-common' )\n\n"))
        self.environment["RADL_STDLIB"] = str(library)
        self.edit(self.file, ("checkpoints = '${shared.folder}/checkpoints'", "checkpoints = '/tmp/checkpoints'"),
                  ("  default = 2\n", "  default = 1\n"))
        self.apply(self.file)
        front = next(r for r in self.show(self.file)["resources"] if r.get("system") == "front")["attributes"]["private_ip"]
        self.on(self.file, "worker[0]", f"echo one > /tmp/one && nfs-cp /tmp/one 'nfs://{front}/srv/shared/one?version=4'")
        # One more member: it may, and the server has not been started again.
        before = self.on(self.file, "front[0]", "cat /run/radl-nfs.pid")
        self.radlc("scale", "-y", self.file, "--input", "results=./results", "worker", "2", timeout=300)
        self.assertEqual(self.on(self.file, "worker[1]", f"nfs-cat 'nfs://{front}/srv/shared/one?version=4'"), "one\n")
        self.assertEqual(self.on(self.file, "front[0]", "cat /run/radl-nfs.pid"), before)
        refused = subprocess.run(["nfs-cat", f"nfs://{front}/srv/shared/one?version=4"], capture_output=True, timeout=60, check=False)
        self.assertNotEqual(refused.returncode, 0, "who is no member reads the folder")
        self.destroy(self.file)


@unittest.skipUnless(pathlib.Path("/dev/fuse").exists(), "there is no /dev/fuse here")
class Minio(Folders):
    def setUp(self):
        super().setUp()
        self.program, why = minio_program.program()
        if not self.program:
            self.skipTest(why)
        self.file = self.folder / "shared-folder/minio.radl"
        self.given = ["--input", f"minio={self.program}"]

    def test_a_program_goes_on_from_its_checkpoint_on_another_node_and_the_keys_stay_secret(self):
        self.goes_on_elsewhere(self.file, *self.given)
        key = self.on(self.file, "front[0]", ". /etc/default/minio; echo $MINIO_ROOT_PASSWORD").strip()
        self.assertEqual(len(key), 64)
        told = [str(p) for p in self.folder.rglob("*")
                if p.is_file() and not p.is_symlink() and "/view/" not in str(p) and key.encode() in p.read_bytes()]
        self.assertEqual(told, [], "the key of the store is in these files")
        lines = b"".join(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.processes())
        self.assertNotIn(key.encode(), lines)
        self.destroy(self.file)

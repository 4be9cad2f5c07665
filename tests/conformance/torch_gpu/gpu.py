"""Programs on the GPU of this computer, by local nodes that share it."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import programs_of_others
from hosts_test import Machine
from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_TORCH_PYTHON"]

FILE = """radl 2
input nodes ( type = integer, default = 1 )
network lan ( outbound = 'no' )
system worker ( gpu.count >= 1, gpu.memory >= 4G, net_interface.0.connection = 'lan' )
deploy worker input.nodes
use 'std/gpu/nvidia_driver' as driver ( systems = system.worker )
use 'std/training/torch' as job (
  nodes = system.worker, source = './program', main = 'MAIN', arguments = ARGUMENTS
  options = { python = 'PYTHON', gpu = GPU, results = './results', retries = 2 }
)
output metrics ( value = job.metrics )
"""

# Half of the time in products of matrices, so that what is shown is between nothing and all.
BUSY = """import json, pathlib, time, torch
import torch.distributed as dist
import os
dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
print(json.dumps({"gpus": torch.cuda.device_count()}), flush=True)
gate = pathlib.Path(os.environ["RADL_CHECKPOINTS"], "gate")
while not gate.exists():
    for _ in range(200):
        a = (a @ a).clamp(-1, 1)
    torch.cuda.synchronize()
dist.destroy_process_group()
"""

def names():
    answer = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


class Gpu(RadlCase):
    def setUp(self):
        super().setUp()
        self.servers = []

    def tearDown(self):
        for machine in self.servers:
            machine.stop()
        super().tearDown()

    def program(self, main, arguments="[]", gpu=1, **files):
        folder = self.folder / "program"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / f"{name}.py").write_text(content)
        text = FILE
        for word, value in (("MAIN", main), ("ARGUMENTS", arguments), ("PYTHON", PYTHON), ("GPU", str(gpu))):
            text = text.replace(word, value)
        return self.write("gpu.radl", text)

    def public(self, name, file):
        path, why = programs_of_others.bring(name)
        if not path:
            self.skipTest(why)
        (self.folder / "program").mkdir(exist_ok=True)
        shutil.copy(path, self.folder / "program" / file)

    def logs(self):
        return "".join(log.read_text() for log in sorted((self.folder / "results/logs").iterdir()))

    def member_log(self):
        logs = [log for log in self.found("member-0.log") if "jobs" in log.parts]
        return logs[0].read_text() if logs else ""

    def destroy(self, file):
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left()

    def test_the_public_ddp_program_by_nccl_goes_on_after_a_kill(self):
        self.public("ddp multinode", "multinode.py")
        self.public("ddp datautils", "datautils.py")
        file = self.program("multinode.py", "[400, 10]")
        process = self.start("apply", "-y", file)
        self.wait_until(lambda: "Epoch 20 | Training snapshot saved" in self.member_log() or process.poll() is not None, 120)
        self.assertIsNone(process.poll(), self.member_log())
        workers = []
        for pid in self.processes():
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"LOCAL_RANK=0" in environment and any(word.endswith(b"multinode.py") for word in words):
                workers.append(pid)
        self.assertTrue(workers, "no worker of torchrun is found")
        os.kill(workers[0], signal.SIGKILL)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertRegex(self.logs(), r"Resuming training from snapshot at Epoch [1-9]\d")
        self.assertIn("[GPU0] Epoch 399", self.logs())
        self.assertEqual(self.actions(file), {})
        self.destroy(file)

    def test_the_public_imagenet_program_on_two_nodes_that_share_the_gpu(self):
        self.public("imagenet", "main.py")
        pictures = self.folder / "pictures"
        subprocess.run([PYTHON, str(SOURCE / "tests/conformance/pictures.py"), str(pictures), "64", "16"], check=True)
        file = self.program("main.py", "['--arch', 'resnet18', '--epochs', 2, '--batch-size', 16, '--workers', 2, '--dist-url', 'env://', "
                            "'--dist-backend', 'gloo', '$RADL_INPUTS/pictures']")
        self.edit(file, ("options = {", "options = { inputs = { pictures = './pictures' },"))
        self.radlc("apply", "-y", file, "--input", "nodes=2", timeout=300)
        self.assertEqual(self.logs().count("Using device: cuda"), 2, self.logs())
        self.assertIn("Epoch: [1]", self.logs())
        self.destroy(file)

    def test_the_example_on_nodes_that_share_the_gpu_and_on_one_by_nccl(self):
        shutil.copytree(SOURCE / "examples/torch", self.folder / "torch")
        file = self.folder / "torch/training.radl"
        for nodes in (3, 1):
            self.radlc("apply", "-y", file, "--input", f"python={PYTHON}", "--input", "results=./results", "--input", f"nodes={nodes}",
                       timeout=300)
            metrics = json.loads((self.folder / "torch/results/report.json").read_text())["metrics"]
            self.assertEqual(metrics["workers"], nodes)
            self.assertGreater(metrics["accuracy"], 0.95)
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left("torch/.radl")

    def test_what_the_gpu_does_is_shown(self):
        file = self.program("busy.py", busy=BUSY)
        process = self.start("apply", "-y", file)
        seen = []

        def busy():
            shown = self.radlc("queue", "--json", file, code=None) if self.member_log() else ""
            seen.append(shown)
            return process.poll() is not None or any(float(share) > 0 for share in re.findall(r'"gpu": ?([0-9.e-]+)', shown))
        self.wait_until(busy, 120, lambda: f"no GPU is shown:\n{seen[-1]}\n{self.member_log()}")
        self.assertIsNone(process.poll(), self.member_log())
        self.assertRegex(self.radlc("queue", file), r"CPUs, .*, GPU \d+%")
        for folder in self.found("checkpoints"):
            (folder / "gate").touch()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(json.loads((self.folder / "results/report.json").read_text())["metrics"]["gpus"], len(names()))
        self.destroy(file)

    def test_more_gpus_than_there_are(self):
        count = len(names())
        file = self.program("busy.py", gpu=count + 1, busy=BUSY)
        self.radlc("apply", "-y", file, code=2)
        self.assertIn(f"the program needs {count + 1} GPUs, and nvidia-smi shows {count}", self.err)
        self.destroy(file)
        self.edit(file, ("gpu.count >= 1", f"gpu.count >= {count + 1}"))
        self.radlc("plan", file, code=None)
        self.assertIn(f"worker[0]: gpu.count >= {count + 1}: it has {count}", self.err)
        self.edit(file, (f"gpu.count >= {count + 1}", "gpu.count >= 1"), ("gpu.memory >= 4G", "gpu.memory >= 4096Gi"))
        self.radlc("plan", file, code=None)
        self.assertIn("worker[0]: gpu.memory >= 4 TiB: it has", self.err)

    def test_an_existing_machine_says_what_gpus_it_has(self):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "id")], check=True)
        machine = Machine(self.folder, "machine", (self.folder / "id.pub").read_text())
        self.servers.append(machine)
        self.wait_until(machine.listens)
        self.write("known_hosts", f"[{machine.host}]:{machine.port} {machine.host_key}\n")
        self.environment["RADL_SSH_CONFIG"] = str(self.write("ssh_config", f"Host big\n  HostName {machine.host}\n  Port {machine.port}\n"
                                                             f"  IdentityFile {self.folder}/id\n  IdentitiesOnly yes\n  IdentityAgent none\n"
                                                             f"  UserKnownHostsFile {self.folder}/known_hosts\n"))
        model = names()[0].split()[-1]
        file = self.write("host.radl", f"radl 2\nsystem worker ( gpu.count >= 1, gpu.memory >= 4G, gpu.model = '{model}', "
                          "disk.0.image.url = 'ssh://big' )\ndeploy worker 1 hosts\n")
        self.radlc("apply", "-y", file)
        seen = json.dumps(self.show(file))
        self.assertIn(names()[0], seen)
        self.assertRegex(seen, r'"gpu_memory_bytes": \d{10,}')
        self.radlc("destroy", "-y", file)
        self.edit(file, ("gpu.memory >= 4G", "gpu.memory >= 4096Gi"))
        self.radlc("plan", "--refresh", file, code=None)
        self.assertIn("gpu.memory >= 4 TiB: it has", self.err)


if __name__ == "__main__":
    import unittest
    unittest.main()

"""The same on a double of EC2 (tests/aws: moto, and a real sshd behind each instance): nodes are made by EC2's API, logged in to by SSH
and train, all of them on this computer. A node is made, profiled and removed first, as one would on a cloud that one does not know.
Called by bench/forecast/run, through tests/aws/run.

What it does not show is how long EC2's machines take to boot: the double's are there at once, and the first plan does not know that.
"""
import itertools
import json
import unittest

from aws_case import SYSTEM, AwsCase

import figures

SHAPES = ((2, 2), (1, 2), (2, 4), (1, 3), (2, 3))  # workers and epochs, one run after another
FILE = f"""radl 2
description forecast (name = 'forecast')
input workers (type = integer, default = 2, min = 1)
input epochs (type = number, default = 2)
network lan (outbound = 'no')
each role in ['server', 'worker'] (
  system '${{role}}' (instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM})
)
configure base (
  directory '~/cluster' (mode = '0750')
  file '~/cluster/role' (content = "${{self.system}} ${{self.ordinal + 1}}\\n")
)
contextualize (system [server, worker] configure base)
deploy server 1 ec2
deploy worker input.workers ec2
use 'std/training/parameter_server' as cifar (
  servers = system.server
  workers = system.worker
  model = 'fastcifar-s'
  dataset = 'cifar10'
  source = 'subset'
  mode = 'async'
  epochs = input.epochs
  result = 'result'
)
"""


class ForecastOnMoto(AwsCase):
    def test_what_plans_say_beside_what_runs_take(self):
        file = self.write("train.radl", FILE)
        self.radlc("apply", "--auto-approve", file, "--target", "worker[0]", "--input", "workers=1")
        self.radlc("profile", file, "--on", "worker[0]", "--seconds", "10")
        self.radlc("destroy", "--auto-approve", file)
        runs = []
        for workers, epochs in itertools.islice(itertools.cycle(SHAPES), figures.RUNS):
            self.radlc("apply", "--auto-approve", file, "--input", f"workers={workers}", "--input", f"epochs={epochs}", timeout=600)
            runs.append(figures.of_run(json.loads(self.radlc("history", "--newest", "1", "--json"))[0]))
            self.radlc("destroy", "--auto-approve", file)
            figures.tell_run("moto", len(runs), {"workers": workers, "epochs": epochs}, runs[-1])
        self.assertEqual(len(runs), figures.RUNS)
        figures.tell("moto", runs)


if __name__ == "__main__":
    unittest.main()

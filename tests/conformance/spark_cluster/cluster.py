"""examples/spark: spark-submit of a PySpark program over HDFS, workers that come and go, a worker killed in its midst."""
import functools
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import threading

from radl_case import SOURCE, RadlCase

# Two stages of tasks that take their time, so that a worker can be killed between them.
SLOW = """import json, pathlib, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
def slow(i):
    time.sleep(1)
    return i
print(json.dumps({"started": 1}), flush=True)
total = spark.sparkContext.parallelize(range(40), 40).map(slow).sum()
print(json.dumps({"total": total}), flush=True)
"""


def own_address():
    """An address of this computer that the nodes' way out reaches. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Spark(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples/spark", self.folder / "spark")
        self.file = self.folder / "spark/cluster.radl"
        # The nodes fetch the archive as they would from PyPI, from this computer.
        archive = pathlib.Path(os.environ["RADL_SPARK_ARCHIVE"])
        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), functools.partial(Files, directory=archive.parent))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.edit(self.file, ("  home = input.spark\n", "  home = input.spark\n  archive = input.archive\n"),
                  ("network lan", "input archive (type = string)\n\nnetwork lan"))
        self.given = ["--input", f"hadoop={os.environ['RADL_HADOOP_JARS']}", "--input", "results=./results", "--input",
                      f"archive=http://{own_address()}:{self.server.server_port}/{archive.name}"]

    def apply(self, *given):
        return self.radlc("apply", "-y", self.file, *self.given, *given, timeout=400)

    def report(self):
        return json.loads((self.folder / "spark/results/report.json").read_text())

    def workers_alive(self):
        text = self.radlc("exec", self.file, "front[0]", "-c", "curl -sS http://$(hostname -i):8080/json/")
        return sorted(w["host"] for w in json.loads(text)["workers"] if w["state"] == "ALIVE")

    def processes_of_node(self, system, ordinal):
        node = next(r for r in self.show(self.file)["resources"] if r.get("system") == system and r["ordinal"] == ordinal)
        return json.loads(next(self.folder.rglob(f"{node['id']}/run/process.json")).read_text())["pid"]

    def test_a_program_over_hdfs_workers_come_and_go_and_one_is_lost(self):
        self.apply()
        metrics = self.report()["metrics"]
        self.assertEqual((metrics["words"], metrics["hosts"]), (40000, 2))
        counts = json.loads((self.folder / "spark/results/counts.json").read_text())
        self.assertEqual(sum(counts.values()), 40000)
        self.assertIn("No changes", self.apply())
        secret = self.radlc("exec", self.file, "front[0]", "-c", "sed 's/.*=//' /etc/default/radl-spark").strip()
        self.assertEqual(len(secret), 64)

        self.radlc("scale", "-y", self.file, *self.given, "worker", "3", timeout=300)
        self.assertEqual(len(self.workers_alive()), 3)

        # A whole node goes while the program runs: its tasks run again on the others.
        self.edit(self.folder / "spark/words.py", ((self.folder / "spark/words.py").read_text(), SLOW))
        process = self.start("apply", "-y", self.file, *self.given)
        self.wait_until(lambda: any('"started"' in log.read_text() for log in self.folder.rglob("jobs/*/member-0.log")), 120,
                        "the program does not start")
        lines = b"".join(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.processes() if os.path.exists(f"/proc/{pid}"))
        self.assertIn(b"org.apache.spark", lines)
        self.assertNotIn(secret.encode(), lines, "the cluster's secret is in an argument")
        os.kill(self.processes_of_node("worker", 2), signal.SIGKILL)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.report()["metrics"]["total"], sum(range(40)))

        self.apply()  # starts the lost node again
        out = self.radlc("scale", "-y", self.file, *self.given, "worker", "2", "--node", "worker[0]", timeout=300)
        for scheduler in ("spark", "datanodes"):
            self.assertIn(f"elastic '{scheduler}'", out, "it was not drained")
        self.wait_until(lambda: len(self.workers_alive()) == 2, 60, "the workers are not two")
        told = [str(p) for p in self.folder.rglob("*")
                if p.is_file() and not p.is_symlink() and "/view/" not in str(p) and secret.encode() in p.read_bytes()]
        self.assertEqual(told, [], "the cluster's secret is in these files")
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left(state="spark/.radl")

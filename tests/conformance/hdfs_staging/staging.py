"""A bucket is brought into HDFS: in parallel, beside the nodes that copied, once, and whole also after a node was lost in the midst."""
import hashlib
import json
import os
import random
import re
import signal
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

from radl_case import RadlCase

STORE = """radl 2
description staging (name = 'staging')
input hadoop (type = string)
input minio (type = string)
network lan (outbound = 'no')
system front (memory.size >= 1G, net_interface.0.connection = 'lan', net_interface.0.dns_name = 'front')
system worker (memory.size >= 1G, net_interface.0.connection = 'lan', net_interface.0.dns_name = 'worker-#N#')
deploy front 1
deploy worker 3
use 'std/cluster/hdfs' as files ( namenode = system.front, datanodes = system.worker, hadoop = input.hadoop )
use 'std/storage/minio' as store ( server = system.front, program = input.minio, bucket = 'books', port = 9100 )
"""
STAGED = """use 'std/data/hdfs' as staged (
  source = 's3://books/2024', files = files.address, datanodes = system.worker, folder = '/books', environment = store.environment
)
output metrics ( value = staged.metrics )
"""
SPREAD = """use 'std/data/shards' as of_store (
  source = 's3://books/2024', systems = system.worker, folder = '~/of-store', shards = ['part-*'], environment = store.environment
)
use 'std/data/shards' as of_hdfs ( source = '${files.web}/books', systems = system.worker, folder = '~/of-hdfs', shards = ['part-*'] )
"""
PUT = """. /etc/default/minio
cd /tmp/objects
find . -type f | sed 's,^\\./,,' | while IFS= read -r name; do
  code=$(printf 'user = "%s:%s"\\n' "$MINIO_ROOT_USER" "$MINIO_ROOT_PASSWORD" | curl -sS -o /dev/null -w '%{http_code}' -K - \\
    --aws-sigv4 aws:amz:us-east-1:s3 -T "$name" "http://127.0.0.1:9100/books/$(python3 -c 'import sys, urllib.parse
print(urllib.parse.quote(sys.argv[1]))' "$name")")
  [ "$code" = 200 ] || { echo "$name: $code" >&2; exit 1; }
done"""


class Staging(RadlCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site/cluster.radl", STORE)
        self.given = ["--input", f"hadoop={os.environ['RADL_HADOOP_JARS']}", "--input", f"minio={os.environ['RADL_MINIO']}"]
        self.objects = self.folder / "objects"
        self.random = random.Random(16)

    def apply(self, **options):
        return self.radlc("apply", "-y", self.file, *self.given, timeout=400, **options)

    def put(self, objects):
        shutil.rmtree(self.objects, ignore_errors=True)
        for name, content in objects.items():
            self.write(f"objects/{name}", "").write_bytes(content)
        self.radlc("exec", self.file, "front[0]", "-c", "rm -rf /tmp/objects")
        self.radlc("cp", self.file, self.objects, "front[0]:/tmp/objects")
        self.radlc("exec", self.file, "front[0]", "-c", PUT)

    def nodes(self, system):
        return {r["ordinal"]: r for r in self.show(self.file)["resources"] if r.get("system") == system}

    def read(self, path):
        host = self.nodes("front")[0]["attributes"]["private_ip"]
        url = f"http://{host}:9870/webhdfs/v1{urllib.parse.quote(path)}?op=OPEN&user.name=hdfs"
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60).read()

    def assert_staged(self, objects):
        for name, content in objects.items():
            found = self.read("/books/" + name.removeprefix("2024/"))
            self.assertEqual(hashlib.sha256(found).hexdigest(), hashlib.sha256(content).hexdigest(), name)

    def metrics(self):
        return json.loads((self.file.parent / "staged-results/report.json").read_text())["metrics"]

    def copied(self):
        """Bytes that all members have copied in the last run."""
        logs = [log.read_text() for log in (self.file.parent / "staged-results/logs").iterdir()]
        return sum(int(said[-1]) for said in (re.findall(r"(\d+) bytes were copied", log) for log in logs) if said)

    def test_every_datanode_copies_its_share_beside_itself_and_nothing_twice(self):
        self.apply()
        objects = {f"2024/part-{i:02}": self.random.randbytes(1 << 20) for i in range(9)}
        objects |= {"2024/empty": b"", "2024/in a folder/ä & b.txt": b"text\n"}
        self.put({**objects, "2024-other/no": b"is not below the folder"})
        self.edit(self.file, ("input.minio, bucket = 'books', port = 9100 )\n", "input.minio, bucket = 'books', port = 9100 )\n" + STAGED))
        self.apply()
        self.assertEqual(self.metrics()["files"], len(objects))
        self.assert_staged(objects)
        listing = self.radlc("exec", self.file, "front[0]", "-c", "hdfs fsck /books -files -blocks -locations 2> /dev/null")
        self.assertNotIn("/books/no", listing, "what only begins like the folder was copied")
        workers = self.nodes("worker")
        for i, name in enumerate(sorted(objects)):
            if len(objects[name]) == 1 << 20:
                block = re.search(re.escape("/books/" + name.removeprefix("2024/")) + r" .*\n0\. (.*)", listing)
                self.assertIsNotNone(block, name + " is not in\n" + listing)
                self.assertIn(workers[i % 3]["attributes"]["private_ip"] + ":", block[1], "no copy is on the node that copied it")
        self.assertIn("No changes", self.apply())
        # Again, since the results are gone: only what has changed since is copied.
        changed = {"2024/part-00": b"new content"}
        self.put(changed)
        shutil.rmtree(self.file.parent / "staged-results")
        self.apply()
        self.assertEqual(self.copied(), len(b"new content"))
        self.assert_staged(objects | changed)
        # From the store and from HDFS to the nodes' own folders.
        self.edit(self.file, (STAGED, STAGED + SPREAD))
        self.apply()
        objects |= changed
        for folder in ("of-store", "of-hdfs"):
            said = [self.radlc("exec", self.file, f"worker[{n}]", "-c", f"cd ~/{folder} && find . -type f ! -name '.*' | xargs -d '\\n' sha256sum")
                    for n in range(3)]
            found = [dict(reversed(line.split("  ./")) for line in one.splitlines()) for one in said]
            for name, content in objects.items():
                name = name.removeprefix("2024/")
                digests = [files[name] for files in found if name in files]
                self.assertEqual(digests, [hashlib.sha256(content).hexdigest()] * (1 if name.startswith("part-") else 3), name)
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left(state="site/.radl")

    def test_a_datanode_lost_while_files_are_copied_costs_none_of_them(self):
        self.apply()
        objects = {f"2024/part-{i:02}": self.random.randbytes(8 << 20) for i in range(24)}
        self.put(objects)
        self.edit(self.file, ("input.minio, bucket = 'books', port = 9100 )\n", "input.minio, bucket = 'books', port = 9100 )\n" + STAGED))
        process = self.start("apply", "-y", self.file, *self.given)
        self.wait_until(lambda: any("were copied" in log.read_text() for log in self.folder.rglob("jobs/*/member-*.log")), 120)
        lost = self.random.randrange(3)
        node = json.loads(next(self.folder.rglob(f"{self.nodes('worker')[lost]['id']}/run/process.json")).read_text())["pid"]
        os.kill(node, signal.SIGKILL)
        out, err = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0, out)
        self.assertIn(f"worker[{lost}]", err)
        self.apply()  # starts the node again, and copies what is missing
        self.assert_staged(objects)
        self.assertLess(self.copied(), 24 * (8 << 20), "what was there has been copied again")
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left(state="site/.radl")

    def test_radlc_killed_by_seed_leaves_a_cluster_and_copies_that_the_next_apply_ends(self):
        """Killed while the cluster is made, while files are copied, and while a datanode goes; nothing is copied twice or lost."""
        dice = random.Random(int(os.environ.get("RADL_SEED", "16")))

        def killed(longest, *arguments):
            process = self.start(*arguments, *self.given)
            try:
                process.wait(dice.uniform(0, longest))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

        for _ in range(3):
            killed(20, "apply", "-y", self.file)
        self.apply()
        objects = {f"2024/part-{i:02}": self.random.randbytes(4 << 20) for i in range(24)}
        self.put(objects)
        self.edit(self.file, ("input.minio, bucket = 'books', port = 9100 )\n", "input.minio, bucket = 'books', port = 9100 )\n" + STAGED))
        process = self.start("apply", "-y", self.file, *self.given)
        self.wait_until(lambda: any("were copied" in log.read_text() for log in self.folder.rglob("jobs/*/member-*.log")), 120)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        killed(3, "apply", "-y", self.file)
        self.apply()
        self.assert_staged(objects)
        self.assertEqual(self.metrics()["files"], len(objects))
        self.assertIn("No changes", self.apply())
        killed(10, "scale", self.file, "worker", "2", "--node", "worker[1]", "-y")
        self.radlc("scale", self.file, "worker", "2", "-y", *self.given, timeout=400)
        self.assert_staged(objects)
        report = self.radlc("exec", self.file, "front[0]", "-c", "hdfs fsck /books 2> /dev/null")
        self.assertIn("is HEALTHY", report)
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left(state="site/.radl")

    def test_a_killed_datanode_costs_nothing_and_a_killed_namenode_is_a_clear_failure(self):
        self.apply()
        objects = {f"2024/part-{i:02}": self.random.randbytes(4 << 20) for i in range(18)}
        self.put(objects)
        self.edit(self.file, ("input.minio, bucket = 'books', port = 9100 )\n", "input.minio, bucket = 'books', port = 9100 )\n" + STAGED))
        process = self.start("apply", "-y", self.file, *self.given, "--log-json", "events.jsonl")
        self.wait_until(lambda: any("were copied" in log.read_text() for log in self.folder.rglob("jobs/*/member-*.log")), 120)
        lost = self.random.randrange(3)
        killed = time.time()
        self.radlc("exec", self.file, f"worker[{lost}]", "-c", "kill -9 $(cat /run/hdfs-datanode.pid)")
        out, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, out + err)
        self.assert_staged(objects)
        tasks = [e for e in self.events(self.folder / "events.jsonl") if e["event"] == "task" and "hdfs-datanode" in e["data"]["name"]]
        self.assertEqual([(e["node"], "does not run" in e["data"]["name"]) for e in tasks], [(f"worker[{lost}]", True)])
        self.assertLess(tasks[0]["time"] - killed, 5, "it was noticed late")

        self.radlc("exec", self.file, "front[0]", "-c", "kill -9 $(cat /run/hdfs-namenode.pid)")
        shutil.rmtree(self.file.parent / "staged-results")
        self.apply(code=2)
        self.assertIn("program 'staged'", self.err)
        self.assertIn("Connection refused", self.err)
        self.radlc("exec", self.file, "front[0]", "-c", "service hdfs-namenode start")
        self.radlc("exec", self.file, f"worker[{lost}]", "-c", "service hdfs-datanode start")
        self.wait_until(lambda: "Live datanodes (3)" in self.radlc("exec", self.file, "front[0]", "-c",
                                                                   "hdfs dfsadmin -report -live 2> /dev/null", code=None), 90)
        self.apply()
        self.assert_staged(objects)
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left(state="site/.radl")

"""Commands of the standard library's modules that run once: cut short, or failed half-way, they are not taken for done."""
import hashlib
import json
import os
import subprocess
import tarfile
import unittest

from radl_case import RadlCase

FILE = """radl 2
network lan ()
system front ( cpu.count >= 1, net_interface.0.connection = 'lan' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy front 1
deploy worker 2
"""
# Ends what runs it as kill -9 does, or fails, where there is a file that says so.
ENDS = '[ ! -e "$ENDS" ] || { read how < "$ENDS"; rm "$ENDS"; case $how in killed) kill -9 0 ;; *) exit 2 ;; esac; }\n'


class Guards(RadlCase):
    def setUp(self):
        super().setUp()
        self.ends = self.folder / "ends"
        (self.folder / "bin").mkdir()

    def command(self, use, program, place):
        """The command of front[0] that runs the program, its folder below the test's."""
        file = self.write("file.radl", FILE + use)
        text = self.radlc("compile", file)
        text = text.replace(place, str(self.folder / "root") + place)
        found = [resource for step in json.loads(text)["steps"] if step.get("nodes") == ["front[0]"]
                 for resource in step.get("resources", [])
                 if resource["type"] == "command" and program in resource["name"]]
        self.assertEqual(len(found), 1)
        return found[0]

    def program(self, name, script):
        path = self.folder / "bin" / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def sh(self, command, properties):
        return subprocess.run(["/bin/sh", "-c", command], cwd=properties.get("directory", self.folder), capture_output=True, text=True,
                              start_new_session=True, env={"ENDS": str(self.ends), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})

    def is_done(self, command):
        properties = command["properties"]
        if "creates" in properties:
            return os.path.exists(properties["creates"])
        return self.sh(properties["unless"], properties).returncode == 0

    def run_command(self, command, ends=None):
        if ends:
            self.ends.write_text(ends + "\n")
        done = self.sh(command["name"], command["properties"])
        self.assertEqual(done.returncode == 0, ends is None, done.stdout + done.stderr)

    def each_end(self, command, whole):
        for how in ("killed", "failed"):
            self.assertFalse(self.is_done(command), how)
            self.run_command(command, how)
        self.assertFalse(self.is_done(command))
        self.run_command(command)
        self.assertTrue(self.is_done(command))
        self.assertTrue(whole.exists())

    def test_a_database_appears_only_when_complete(self):
        self.program("mariadb-install-db", 'for a; do case $a in --datadir=*) d=${a#*=} ;; esac; done\n'
                     'mkdir -p "$d/mysql"\n' + ENDS + 'touch "$d/mysql/whole"\n')
        (self.folder / "root/var/lib").mkdir(parents=True)
        command = self.command("use 'std/cluster/slurm' as slurm ( head = system.front, workers = system.worker, max = 4 )\n",
                               "mariadb-install-db", "/var/lib/slurm-mysql")
        self.each_end(command, self.folder / "root/var/lib/slurm-mysql/mysql/whole")

    def release(self, folder, names):
        """An archive, and a tar that leaves half of it."""
        path = folder / "release.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name in names:
                made = self.write("made", name)
                made.chmod(0o755)
                archive.add(made, name)
        self.program("tar", '/bin/tar "$@"\nr=$?\n[ ! -e "$ENDS" ] || find . -name "*.jar" -delete\n' + ENDS + "exit $r\n")
        return path, hashlib.sha256(path.read_bytes()).hexdigest()

    def unpacks(self, use, root, archive, layouts):
        folder = self.folder / "root" / root.strip("/")
        folder.mkdir(parents=True)
        for names, whole in layouts:
            made, digest = self.release(self.folder, names)
            made.rename(folder / archive)
            command = self.command(use.replace("SHA", digest), f"tar -xzf {archive}", root)
            self.each_end(command, folder / whole)
            self.assertEqual((folder / whole).read_text(), [n for n in names if n.endswith(".jar")][0])
        self.assertEqual([p.name for p in folder.iterdir() if p.name == "new"], [])

    def test_a_release_of_spark_is_unpacked_whole_and_another_one_in_its_place(self):
        self.unpacks("use 'std/cluster/spark' as spark ( master = system.front, workers = system.worker, "
                     "archive = 'https://example.org/spark.tgz', sha256 = 'SHA' )\n", "/opt/radl-spark", "spark.tar.gz",
                     [(["spark-1/bin/spark-class", "spark-1/jars/a.jar", "spark-1/python/pyspark/x.py"], "release/jars/a.jar"),
                      (["pyspark-2/deps/bin/spark-class", "pyspark-2/deps/jars/a.jar", "pyspark-2/pyspark/x.py", "pyspark-2/lib/y.zip"],
                       "release/jars/a.jar")])

    def test_a_release_of_hadoop_is_unpacked_whole_and_another_one_in_its_place(self):
        self.unpacks("use 'std/cluster/hdfs' as files ( namenode = system.front, datanodes = system.worker, "
                     "hadoop = 'https://example.org/hadoop.tar.gz', sha256 = 'SHA' )\n", "/opt/radl-hadoop", "hadoop.tar.gz",
                     [([f"hadoop-{n}/share/hadoop/common/lib/b", f"hadoop-{n}/share/hadoop/hdfs/a.jar", f"hadoop-{n}/share/doc"],
                       "share/hadoop/hdfs/a.jar") for n in (1, 2)])


if __name__ == "__main__":
    unittest.main()

"""A namenode and a datanode of a real Hadoop on loopback, from the jars of Maven Central; no installation, no root."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
# Hadoop 3.4 on Java 17 looks into java.lang.
JAVA = ["java", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Xmx384m", "-Djava.net.preferIPv4Stack=true"]


class Unavailable(Exception):
    pass


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def bring_jars(folder):
    """Kept between runs: 118 files, 60 MB."""
    if (folder / "complete").exists():
        return folder / "lib"
    if not shutil.which("mvn") or not shutil.which("java"):
        raise Unavailable("there is no Maven or no Java here")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "hadoop.xml", folder / "pom.xml")
    command = ["mvn", "-q", "-B", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={folder}/lib",
               "-DincludeScope=runtime"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line] or ["Maven failed"]
        raise Unavailable(lines[0][:200])
    (folder / "complete").touch()
    return folder / "lib"


def write_settings(folder, name, values):
    properties = "".join(f"<property><name>{k}</name><value>{v}</value></property>\n" for k, v in values.items())
    (folder / name).write_text(f"<configuration>\n{properties}</configuration>\n")


class Hdfs:
    def __init__(self, jars, work):
        shutil.rmtree(work, ignore_errors=True)
        self.work, self.processes = work, []
        rpc, self.port, data, data_http, data_ipc = free_ports(5)
        for folder in ("hdfs", "datanode", "static"):  # the jars look for their web pages on the class path
            (work / "conf/webapps" / folder).mkdir(parents=True)
        write_settings(work / "conf", "core-site.xml", {"fs.defaultFS": f"hdfs://127.0.0.1:{rpc}", "hadoop.tmp.dir": work / "data"})
        write_settings(work / "conf", "hdfs-site.xml", {
            "dfs.replication": 1, "dfs.webhdfs.enabled": "true", "dfs.namenode.rpc-bind-host": "127.0.0.1",
            "dfs.namenode.http-address": f"127.0.0.1:{self.port}", "dfs.namenode.safemode.extension": 0,
            "dfs.namenode.datanode.registration.ip-hostname-check": "false", "dfs.datanode.hostname": "127.0.0.1",
            "dfs.datanode.address": f"127.0.0.1:{data}", "dfs.datanode.http.address": f"127.0.0.1:{data_http}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}",
        })
        (work / "conf/log4j.properties").write_text(
            "log4j.rootLogger=WARN,A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.A.layout=org.apache.log4j.PatternLayout\nlog4j.appender.A.layout.ConversionPattern=%p %c: %m%n\n")
        self.command = [*JAVA, f"-Dhadoop.home.dir={work}", "-cp", f"{work}/conf:{jars}/*"]
        self.environment = dict(os.environ, HADOOP_USER_NAME="hdfs", HADOOP_HOME=str(work))
        name_node = "org.apache.hadoop.hdfs.server.namenode.NameNode"
        done = subprocess.run([*self.command, name_node, "-format", "-nonInteractive"], env=self.environment, capture_output=True, timeout=120)
        if done.returncode != 0:
            raise Unavailable("the namenode cannot be formatted: " + done.stderr.decode(errors="replace")[-200:])
        try:
            for program in (name_node, "org.apache.hadoop.hdfs.server.datanode.DataNode"):
                with open(work / f"{program.rsplit('.', 1)[1]}.log", "wb") as log:
                    self.processes.append(subprocess.Popen([*self.command, program], env=self.environment, stdout=log, stderr=log,
                                                           stdin=subprocess.DEVNULL))
            self.wait()
        except BaseException:
            self.stop()
            raise

    def wait(self):
        query = f"http://127.0.0.1:{self.port}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if any(p.poll() is not None for p in self.processes):
                break
            try:
                with urllib.request.urlopen(query, timeout=5) as answer:
                    if json.load(answer)["beans"][0]["NumLiveDataNodes"] == 1:
                        return
            except (OSError, ValueError, LookupError):
                pass
            time.sleep(0.2)
        raise Unavailable(f"HDFS does not start; {self.work} has its logs")

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

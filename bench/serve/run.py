"""`radlc serve` under load: the memory of 1,000 event streams and how late their events are, and the list of 1,000 infrastructures.

JSON lines {name, ours, unit, goal, machine}: the service's own memory that the streams take, the latest arrival of the events of a run at any
of them (the client reads in the same computer, so its own time is included), and the median of 20 requests.
"""
import json
import os
import platform
import statistics
import sys
import time
import unittest

from service_load_test import STREAMS, ServiceLoadTest, read_all


def machine():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return f"{os.cpu_count()} cores, {line.split(':', 1)[1].strip()}"
    return platform.machine()


def report(name, ours, unit, goal):
    print(json.dumps({"name": name, "ours": round(ours, 1), "unit": unit, "goal": goal, "machine": machine()}), flush=True)


class Measure(ServiceLoadTest):
    def runTest(self):
        run = self.held_run()
        memory = self.about("RssAnon")
        streams = self.open_streams(run)
        report("serve-streams-memory", (self.about("RssAnon") - memory) / 1024, "MiB for 1,000 streams", 40)
        report("serve-streams-threads", self.about("Threads"), "threads of the service", 100)
        read_all(streams, lambda one: True)
        for one in streams:
            one.late = 0.0
        self.release()
        read_all(streams, lambda one: one.over)
        report("serve-streams-late", 1000 * max(one.late for one in streams), "ms, the latest event at any of 1,000 streams", 200)
        for one in streams:
            one.socket.close()
        self.end_of(run)


class List(ServiceLoadTest):
    def runTest(self):
        times = []
        with self.many_infrastructures():
            self.assertEqual(len(self.get("/infrastructures")["infrastructures"]), STREAMS)
            for _ in range(20):
                begin = time.monotonic()
                self.get("/infrastructures")
                times.append(time.monotonic() - begin)
        report("serve-list", 1000 * statistics.median(times), "ms, the list of 1,000 infrastructures", 50)


if __name__ == "__main__":
    suite = unittest.TestSuite([Measure(), List()])
    sys.exit(not unittest.TextTestRunner(stream=sys.stderr).run(suite).wasSuccessful())

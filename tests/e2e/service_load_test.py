"""`radlc serve` under load: a thousand event streams, many runs at once, many infrastructures."""
import contextlib
import json
import os
import pathlib
import resource
import select
import shutil
import socket
import time

from page_case import PageCase
from radl_case import found

STREAMS = 1000
MOST_MEMORY = 40 << 20  # that the streams may take
NODE = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
"""
HELD = NODE + """configure told (command 'until [ -e ~/release ]; do sleep 0.05; done; echo released' ())
contextualize (system worker configure told step 1)
"""


class Stream:
    """One stream of the events of a run, without a thread of its own."""

    def __init__(self, case, run):
        self.socket = socket.create_connection(("127.0.0.1", case.port), timeout=120)
        self.socket.sendall(f"GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{case.port}\r\nAuthorization: Bearer {case.token}\r\n"
                            "Accept: text/event-stream\r\n\r\n".encode())
        self.socket.setblocking(False)
        self.text, self.over, self.late = b"", False, 0.0

    def read(self):
        """What has arrived; notes how late its newest event is."""
        part = self.socket.recv(1 << 16)
        self.text += part
        self.over |= not part or b"\nevent: end\n" in self.text
        if lines := [line for line in part.split(b"\n") if line.startswith(b"data: {\"")]:
            try:
                self.late = max(self.late, time.time() - json.loads(lines[-1][6:])["time"])
            except (ValueError, KeyError):  # cut off here, or the end
                pass

    def status(self):
        return int(self.text.split(b" ", 2)[1])

    def numbers(self):
        return [int(line[4:]) for line in self.text.splitlines() if line.startswith(b"id: ")]


def read_all(streams, until, seconds=120):
    """Reads from all streams until the condition holds of each."""
    poll, by_number = select.poll(), {one.socket.fileno(): one for one in streams}
    for number in by_number:
        poll.register(number, select.POLLIN)
    deadline = time.time() + seconds
    while not all(until(one) for one in streams):
        if time.time() > deadline:
            raise AssertionError(f"{sum(not until(one) for one in streams)} streams wait")
        for number, _ in poll.poll(1000):
            by_number[number].read()
            if by_number[number].over:
                poll.unregister(number)


class ServiceLoadTest(PageCase):
    def about(self, name):
        """A number of the service's /proc/PID/status."""
        lines = pathlib.Path(f"/proc/{self.server.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name + ":")).split()[1])

    def is_held(self, run):
        """Whether its step waits for release()."""
        return any(e["event"] == "action_started" and "told" in e["id"] for e in self.get(f"/runs/{run}/events")["events"])

    def held_run(self):
        run = self.start_plan(infrastructure=self.create(), program=HELD)
        self.wait_until(lambda: self.is_held(run), 120, lambda: str(self.get(f"/runs/{run}/events")["events"][-5:]))
        return run

    def release(self):
        for home in found(self.folder / "service", "home"):
            (home / "release").touch()

    def open_streams(self, run, count=STREAMS):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < count + 1000:
            self.skipTest(f"this process may have {hard} open files: too few for {count} streams")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 1000), hard))
        streams = []
        for start in range(0, count, 50):  # so that no request is one too many
            streams += [Stream(self, run) for _ in range(min(50, count - start))]
            read_all(streams[start:], lambda one: one.numbers())
        return streams

    def test_a_thousand_streams_in_a_few_threads_and_little_memory(self):
        run = self.held_run()
        threads, memory = self.about("Threads"), self.about("RssAnon") << 10
        streams = self.open_streams(run)
        try:
            self.assertEqual({one.status() for one in streams}, {200})
            self.assertLessEqual(self.about("Threads"), threads + 4)
            self.assertLess((self.about("RssAnon") << 10) - memory, MOST_MEMORY)
            self.assertEqual(self.ask("GET", f"/runs/{run}/events", Accept="text/event-stream")[0], 429)  # one too many
            self.assertEqual(self.get(f"/runs/{run}")["state"], "running")  # others are served
            self.release()
            read_all(streams, lambda one: one.over)
        finally:
            self.release()
            for one in streams:
                one.socket.close()
        first = streams[0].numbers()
        self.assertEqual(first, list(range(1, len(first) + 1)))
        self.assertTrue(all(one.numbers() == first for one in streams))
        self.assertEqual(self.end_of(run)["state"], "done")

    def test_the_service_ends_after_streams_that_have_just_gone(self):
        """Their thread did nothing but free memory, in which an allocator can deadlock (runtime/cli/thread_start.cc)."""
        for number in range(5):
            run = self.start_plan(infrastructure=self.create(f"cluster{number}"), program=NODE)
            streams = [Stream(self, run) for _ in range(20)]
            for _ in range(2):
                self.ask("POST", f"/runs/{run}/stop")
            self.end_of(run)
            for one in streams:
                one.socket.close()
            self.assertEqual(self.stop_server()[0], 0)
            self.serve(self.port)

    def test_runs_of_many_infrastructures_at_once(self):
        """50 with RADL_LONG_TESTS=1: each has a node."""
        count = 50 if os.environ.get("RADL_LONG_TESTS") else 6
        runs = [self.start_plan(infrastructure=self.create(f"cluster{i}"), program=HELD) for i in range(count)]
        self.wait_until(lambda: all(map(self.is_held, runs)), 170)
        self.assertEqual({self.get(f"/runs/{run}")["state"] for run in runs}, {"running"})
        self.release()
        self.assertEqual({self.end_of(run)["state"] for run in runs}, {"done"})

    @contextlib.contextmanager
    def many_infrastructures(self):
        """A service that has STREAMS infrastructures; it is killed afterwards, and all but one are removed."""
        one = self.create()
        self.run_plan(infrastructure=one, program="radl 2\noutput a (value = 1)\n")
        self.stop_server()
        about = (self.folder / "service/workspaces" / one / "about.json").read_text()
        for number in range(1, STREAMS):
            folder = self.folder / f"service/workspaces/{number:012x}"
            folder.mkdir()
            (folder / "about.json").write_text(about)
        self.serve(self.port)
        try:
            yield
        finally:  # without a clean-up of each
            self.server.kill()
            self.server.communicate()
            for number in range(1, STREAMS):
                shutil.rmtree(self.folder / f"service/workspaces/{number:012x}")

    def test_a_thousand_infrastructures_are_listed(self):
        with self.many_infrastructures():
            listed = self.get("/infrastructures")["infrastructures"]
            refused = self.ask("POST", "/infrastructures", {"name": "one-more"})[0]
        self.assertEqual(len({row["id"] for row in listed}), STREAMS)
        self.assertEqual(refused, 429)  # the limit of a user

"""Systems that grow and shrink while they run: `radlc scale` and `radlc autoscale` on local nodes."""
import os
import signal
import unittest

from radl_case import RadlCase

CLUSTER = """radl 2
description grows (name = 'grows')
input workers ( type = integer, default = 2 )
input word ( type = string, sensitive = yes )
network lan ()
system front ( net_interface.0.connection = 'lan' )
system worker ( net_interface.0.connection = 'lan' )
configure head (
  directory '~/served' ()
  file '~/members' ( content = join([w.address for w in worker[*]], ' ') )
  elastic 'workers' (
    system = worker.name
    min = 1
    max = 4
    idle = 1s
    wanted = '[ ${self.private_ip} != ${input.word} ] && cat ~/wanted'
    drain = '[ ${self.private_ip} ] && echo "$RADL_NODES / $RADL_ORDINALS / $(cat ~/members)" >> ~/drained; [ ! -e ~/busy ]'
  )
)
configure member ( command 'echo x >> ~/runs' () )
contextualize ( system front configure head system worker configure member )
deploy front 1
deploy worker input.workers
output members ( value = join([w.address for w in worker[*]], ' ') )
"""


class Scale(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_INPUT_word="a-secret-word")
        self.file = self.write("cluster.radl", CLUSTER)

    def tearDown(self):
        self.radlc("destroy", self.file, "-y", code=None)  # nothing to destroy is no matter
        super().tearDown()

    def begin(self):
        self.radlc("apply", self.file, "-y")

    def scale(self, *words, **options):
        return self.radlc("scale", self.file, *words, "-y", **options)

    def on(self, node, command, code=0):
        return self.radlc("exec", self.file, node, "-c", command, code=code).strip()

    def workers(self):
        return sorted(r["address"] for r in self.show(self.file)["resources"] if r.get("system") == "worker")

    def assert_settled(self):
        self.assertIn("No changes", self.radlc("apply", self.file, "-y"))

    def test_nodes_come_and_go_and_nothing_else_is_done(self):
        self.begin()
        ids = {r["address"]: r["id"] for r in self.show(self.file)["resources"]}
        self.scale("worker", 4)
        self.assertEqual(self.workers(), [f"worker[{i}]" for i in range(4)])
        now = {r["address"]: r["id"] for r in self.show(self.file)["resources"]}
        self.assertEqual({a: now[a] for a in ids}, ids, "what was there is as it was")
        self.assertEqual(self.on("worker[0]", "cat ~/runs"), "x", "its steps did not run again")
        self.assertEqual(self.on("front[0]", "cat ~/members"), "worker[0] worker[1] worker[2] worker[3]")
        self.assert_settled()
        self.assertIn("`radlc scale` set 'worker' to 4 nodes; the file says 2", self.radlc("plan", self.file))
        self.scale("worker", "2")
        self.assertEqual(self.workers(), ["worker[0]", "worker[1]"])
        self.assertEqual(self.on("front[0]", "cat ~/drained"),
                         "worker[2] worker[3] / 2 3 / worker[0] worker[1] worker[2] worker[3]",
                         "they were drained before the head learned that they go")
        self.assertEqual(self.on("front[0]", "cat ~/members"), "worker[0] worker[1]")
        self.assert_settled()
        self.radlc("destroy", self.file, "-y")
        self.assert_nothing_left()

    def test_a_node_by_name_goes_and_the_next_takes_its_place(self):
        self.begin()
        self.scale("worker", "+1")
        self.scale("worker", "--node", "worker[1]")
        self.assertEqual(self.workers(), ["worker[0]", "worker[2]"])
        self.assertEqual(self.on("front[0]", "cat ~/members"), "worker[0] worker[2]")
        self.assert_settled()
        self.scale("worker", 3)
        self.assertEqual(self.workers(), ["worker[0]", "worker[1]", "worker[2]"])
        self.scale("worker", "--reset")
        self.assertEqual(self.workers(), ["worker[0]", "worker[1]"])
        self.assertNotIn("radlc scale", self.radlc("plan", self.file))

    def test_impossible_requests_give_one_clear_line(self):
        self.begin()
        for words, message in [(("worker", 0), "'worker' has at least 1 node (elastic 'workers' of front[0]/head), not 0"),
                               (("worker", 9), "'worker' has at most 4 nodes (elastic 'workers' of front[0]/head), not 9"),
                               (("wroker", 1), "no system 'wroker' is deployed; deployed: front, worker"),
                               (("worker", "--node", "worker[7]"), "no node worker[7]"),
                               (("worker", "many"), "'many' is not a number of nodes")]:
            with self.subTest(words=words):
                self.scale(*words, code=1)
                self.assertIn(message, self.err)
        self.assertEqual(self.workers(), ["worker[0]", "worker[1]"])

    def test_a_file_that_names_a_node_that_scale_removed_is_explained_by_every_command(self):
        self.begin()
        self.scale("worker", 1)
        self.write("cluster.radl", CLUSTER + "output second ( value = worker[1].address )\n")
        for command in (["plan", self.file], ["apply", self.file, "-y"], ["import", self.file, "worker[0]", "any"]):
            with self.subTest(command=command[0]):
                self.radlc(*command, code=1)
                self.assertRegex(self.err, r"(?s)error.*worker\[1\]")

    def test_a_node_that_cannot_be_drained_stays(self):
        self.begin()
        self.on("front[0]", "touch ~/busy")
        self.scale("worker", 1, code=2)
        self.assertIn("elastic", self.radlc("plan", self.file))
        self.assertEqual(self.workers(), ["worker[0]", "worker[1]"])
        self.on("front[0]", "rm ~/busy")
        self.radlc("apply", self.file, "-y")
        self.assertEqual(self.workers(), ["worker[0]"])
        self.assert_settled()

    def test_the_file_holds_again_when_its_number_changes_or_all_was_destroyed(self):
        self.begin()
        self.scale("worker", 1)
        out = self.radlc("apply", self.file, "-y", "--input", "workers=3")
        self.assertIn("follows the file again", out)
        self.assertEqual(len(self.workers()), 3)
        self.scale("worker", 4)
        self.radlc("destroy", self.file, "-y")
        self.begin()
        self.assertEqual(len(self.workers()), 2)

    def test_a_killed_scale_is_ended_by_the_next_apply(self):
        self.begin()
        log = self.folder / "events.json"
        scale = self.start("scale", self.file, "worker", "4", "-y", "--log-json", log)
        self.wait_until(lambda: any(e["event"] == "action_started" for e in self.events(log)), 60, "it does not begin")
        os.killpg(scale.pid, signal.SIGKILL)
        scale.communicate()
        self.radlc("apply", self.file, "-y")
        self.assertEqual(len(self.workers()), 4)
        self.assert_settled()

    def test_a_program_that_runs_is_left_alone_and_keeps_its_members(self):
        self.edit(self.file, ("output members", """configure job (
  program 'wait' ( systems = system.worker, main = 'sh', arguments = ['-c', 'echo $$ > ~/pid; while [ ! -e ~/end ]; do sleep 0.1; done'] )
)
output members"""))
        apply = self.start("apply", self.file, "-y")
        pid = []

        def runs():
            out = self.radlc("exec", self.file, "worker[1]", "-c", "cat ~/.radl/jobs/*/pid ~/pid", code=None).strip()
            pid[:] = out.split()
            return bool(pid)

        self.wait_until(lambda: (self.folder / ".radl").exists() and runs(), 60, "the program does not start")
        self.wait_until(lambda: self.show(self.file).get("supervised"), 60, "nobody supervises it")
        self.wait_until(lambda: "at_work" not in self.show(self.file), 60, "the lock is not given back")
        for supervised in (True, False):
            self.scale("worker", 3 if supervised else 4)
            self.on("worker[1]", f"kill -0 {pid[0]}")
            self.radlc("scale", self.file, "worker", 1, "-y", code=2)
            self.assertIn("program/wait has not ended and needs all of its 2 nodes: worker[1] cannot be removed", self.err)
            self.radlc("destroy", self.file, code=1)
            self.assertIn("program/wait", self.err)
            if supervised:
                self.assertIn("program/wait keeps running (apply by", self.radlc("plan", self.file))
                os.killpg(apply.pid, signal.SIGKILL)
                apply.communicate()
        self.on("worker[0]", "touch ~/end")
        self.on("worker[1]", "touch ~/end")

    def test_draining_survives_faults_and_kills_of_a_simulated_cloud(self):
        out = self.radlc("test", self.file, "--runs", "15", "--kill", "--input", "workers=4")
        self.assertIn("nothing is left, doubled, forgotten or billed", out)

    def test_autoscale_adds_requested_nodes_and_removes_idle_ones(self):
        self.begin()
        # A wish that cannot be written in full, as on a full disk, takes no earlier one's place.
        wishes = self.on("front[0]", "cd ~/.radl/elastic/workers; ./request add 2; trap '' 25; "
                         "(ulimit -f 0; ./request add 3) 2> /dev/null && exit 9; cat wishes; rm wishes")
        self.assertEqual(wishes.split("\n")[0], "2 add")
        self.on("front[0]", "echo 2 > ~/wanted")
        relay = self.start("autoscale", self.file)
        try:
            self.on("front[0]", "echo 9 > ~/wanted.new; mv ~/wanted.new ~/wanted")
            self.wait_until(lambda: len(self.workers()) == 4, 60, "no nodes come")
            self.on("front[0]", "echo 0 > ~/wanted.new; mv ~/wanted.new ~/wanted")
            self.wait_until(lambda: len(self.workers()) == 1, 60, "nodes do not go")
            self.on("front[0]", "echo 1 > ~/wanted; sleep 2; ~/.radl/elastic/workers/request add 3; echo 2 > ~/wanted")
            self.wait_until(lambda: self.workers() == ["worker[0]", "worker[3]"], 60, lambda: f"{self.workers()}")
            self.wait_until(lambda: not self.on("front[0]", "cat ~/.radl/elastic/workers/wishes"), 60, "it is not settled")
        finally:
            os.kill(relay.pid, signal.SIGINT)
            relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, 130)


if __name__ == "__main__":
    unittest.main()

"""Several farms on the same nodes, in one apply."""
import json
import unittest

from farm_case import FarmCase

TWO = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/tasks' as slow ( nodes = system.worker, tasks = [ { command = 'sleep 0.4' } for n in range(12) ] )
use 'std/farm/tasks' as quick ( nodes = system.worker, tasks = [ { command = 'sleep 0.4' } for n in range(12) ] )
"""


class FarmShares(FarmCase):
    def changes(self):
        """(time, farm, node, +1 or -1) of all attempts, in order."""
        changes = []
        for path in self.found("farms/*/journal.jsonl"):
            node_of = {}
            for event in map(json.loads, path.read_text().splitlines()):
                if event["event"] == "start":
                    node_of[event["task"]] = event["node"]
                    changes.append((event["at"], path.parent.name, event["node"], 1))
                elif event["event"] == "end":
                    changes.append((event["at"], path.parent.name, node_of[event["task"]], -1))
        return sorted(changes)

    def most_at_once(self):
        running, most = {}, {}
        for _, _, node, change in self.changes():
            running[node] = running.get(node, 0) + change
            most[node] = max(most.get(node, 0), running[node])
        return most

    def test_two_farms_of_a_file_take_turns_and_no_node_has_more_than_fits(self):
        self.file = self.write("farm.radl", TWO)
        self.apply()
        counts = [{state: n for state, n in farm["counts"].items() if n} for farm in json.loads(self.radlc("farm", "status", "--json", self.file))]
        self.assertEqual(counts, [{"finished": 12}] * 2)
        (processors,) = {event["has"]["cpu"] // 1000 for path in self.found("farms/*/journal.jsonl")
                         for event in map(json.loads, path.read_text().splitlines()) if event["event"] == "node"}
        self.assertLessEqual(max(self.most_at_once().values()), processors)
        starts = [farm for _, farm, _, change in self.changes() if change == 1]
        first = starts[:14]
        self.assertGreaterEqual(min(first.count(farm) for farm in set(starts)), 4, starts)
        self.destroy()


if __name__ == "__main__":
    unittest.main()

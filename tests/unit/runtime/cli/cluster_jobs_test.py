"""`radlc queue` of jobs that were given to Ray's or Spark's own submit; the heads are servers of this test."""
import json
import shlex
import unittest

from foresight_case import ForesightCase

RAY = [{"type": "SUBMISSION", "submission_id": "raysubmit_two", "job_id": "02000000", "status": "RUNNING", "entrypoint": "python tune.py", "start_time": 2000},
       {"type": "SUBMISSION", "submission_id": "raysubmit_one", "job_id": None, "status": "PENDING", "entrypoint": "python a.py", "message": "Job has not started yet.",
        "start_time": 1000}] + [{"type": "DRIVER", "submission_id": None, "job_id": f"0{n}000000", "status": "SUCCEEDED", "entrypoint": "old", "start_time": n} for n in range(9)]
SPARK = {"url": "spark://127.0.0.1:7077", "activeapps": [{"id": "app-2", "name": "count", "state": "WAITING", "starttime": 2}],
         "completedapps": [{"id": "app-1", "name": "pi", "state": "FINISHED", "starttime": 1}], "activedrivers": [], "completeddrivers": []}


class ClusterJobs(ForesightCase):
    def head(self, command):
        """A node whose step is like that of a head; its address."""
        (self.at / "head.radl").write_text("radl 2\nnetwork lan ()\nsystem head (net_interface.0.connection = 'lan')\ndeploy head 1 'local'\n"
                                           f"configure head (\n  command '{command}'\n)\noutput address (value = system.head[0].private_ip)\n")
        self.radlc("apply", "head.radl", "--auto-approve")
        self.addCleanup(lambda: self.radlc("destroy", "head.radl", "--auto-approve"))
        (output,) = json.loads(self.radlc("show", "head.radl", "--json"))["outputs"]
        return output["value"]

    def serve(self, address, port, path, answer):
        """An HTTP server on the node, which has a network of its own."""
        self.radlc("exec", "head.radl", "head", "--", f"mkdir -p w{path} && echo {shlex.quote(json.dumps(answer))} > w{path}index.html && "
                   f"setsid python3 -m http.server {port} --bind {address} --directory w > /dev/null 2>&1 < /dev/null & "
                   f"for i in $(seq 100); do python3 -c 'import socket; socket.create_connection((\"{address}\", {port}))' 2> /dev/null && exit; sleep 0.1; done; exit 1")

    def queue(self):
        return json.loads(self.radlc("queue", "head.radl", "--json"))

    def test_jobs_of_ray(self):
        self.head("true ray.scripts.scripts start --head --dashboard-port=8299 --x")
        (unknown,) = self.queue()
        self.assertEqual((unknown["id"], unknown["state"]), ("ray", "unknown"))
        self.assertIn("cannot be asked", self.radlc("queue", "head.radl"))
        self.serve("127.0.0.1", 8299, "/api/jobs/", RAY)
        jobs = {job["id"]: job for job in self.queue()}
        self.assertEqual(jobs["ray/raysubmit_two"]["state"], "running")
        self.assertEqual(jobs["ray/raysubmit_two"]["members"], [{"node": "head[0]", "process": "python tune.py", "state": "running"}])
        self.assertEqual(jobs["ray/raysubmit_one"]["reason"], "Job has not started yet.")
        self.assertEqual(sum(job["state"] == "succeeded" for job in jobs.values()), 5, "the newest of what has ended")
        self.assertIn("ray/raysubmit_two  running", self.radlc("queue", "head.radl"))

    def test_applications_of_spark(self):
        self.serve(self.head("true spark-master"), 8080, "/json/", SPARK)
        self.assertEqual({job["id"]: (job["state"], job["members"][0]["process"]) for job in self.queue()},
                         {"spark/app-1": ("finished", "pi"), "spark/app-2": ("waiting", "count")})


if __name__ == "__main__":
    unittest.main()

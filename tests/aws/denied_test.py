"""radlc on EC2 while one kind of its calls is refused (cloud_denied.py): once it is allowed, the next apply makes what lacks."""
import unittest

from cloud_denied import chosen, refused
from cloud_faults import whole_run
from faulted import Ground, Infrastructure
from proxy import ec2_error


def denied(request):
    return ec2_error("UnauthorizedOperation", f"You are not authorized to perform this operation: {request.action}", 403)


class Denied(unittest.TestCase):
    def setUp(self):
        self.ground = Ground()
        self.addCleanup(self.ground.close)

    def infrastructure(self, name):
        one = Infrastructure(self.ground, name, logs_in=False)
        self.addCleanup(one.close)
        return one

    def test_each_call_refused(self):
        whole = self.infrastructure("whole")
        for line in whole_run("site.radl"):
            whole.well(*line)
        calls = sorted({(r.action,) for r in whole.proxy.log if r.service == "ec2"})
        for number, (name,) in enumerate(chosen(calls)):
            print(f"\n  {name}", flush=True)
            one = self.infrastructure(str(number))
            for line in whole_run("site.radl"):
                code, out = one.radlc(*line, faults=refused(name, denied))
                if code != 0:
                    one.expect(code in (2, 3) and "UnauthorizedOperation" in out, f"{line[0]} ends with {code}")
                    break
            one.expect_nothing_forgotten()
            if code:
                one.well("apply", "--auto-approve", "site.radl")
                one.expect_whole(2)
            one.well("destroy", "--auto-approve", "site.radl")
            one.expect_nothing()


if __name__ == "__main__":
    unittest.main()

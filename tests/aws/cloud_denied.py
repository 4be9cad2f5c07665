"""radlc while one kind of a cloud's calls is refused: by permissions that lack (403), or because the cloud does not know it (404). Either
everything works without it, or what lacks is said soon and in the cloud's words; and once it is allowed, everything comes to an end.

RADL_DENIED=I/N: each call of the I-th of N shares ("1/1": all of them, which takes some minutes); RADL_DENIED_ONLY=NAME: those whose
name has that in it; otherwise two of them, others each day.
"""
import datetime
import math
import os
import random

from cloud_faults import whole_run
from faults import First
from proxy import Treatment


def refused(name, answer):
    """Faults: each call of that name gets `answer(request)`."""
    return First(math.inf, lambda request: Treatment(refuse=answer(request)), (name,), "refused")


def chosen(cases):
    """Those that the variables ask for. A case begins with the name of a call."""
    share, only = os.environ.get("RADL_DENIED"), os.environ.get("RADL_DENIED_ONLY")
    if only:
        return [case for case in cases if only in case[0]]
    if share:
        number, shares = map(int, share.split("/"))
        return cases[number - 1::shares]
    return random.Random(str(datetime.date.today())).sample(cases, 2)


class Denied:
    """A mixin of a cloud's test case that is Faulted (cloud_faults.py), with
    `denied(request)`, `unknown(request)`: an answer for a call that is not allowed, or that the cloud does not have;
    `words`: kind -> what a user must find of that answer.
    """

    def is_named(self, request):
        return "/" not in request.action

    def calls(self):
        """(name, whether it only reads) of all that a whole run makes; what has no name (tokens, what an operation is followed by) is left out."""
        first = len(self.server.log)
        for line in whole_run(self.file):
            self.well(*line)
        made = {(r.action, r.method == "GET") for r in self.server.log[first:] if self.is_named(r)}
        return sorted(made)

    def test_each_call_refused(self):
        cases = [(name, kind) for name, reads in self.calls() for kind in (("denied", "unknown") if reads else ("denied",))]
        for name, kind in chosen(cases):
            print(f"\n  {name} {kind}", flush=True)
            code = 0
            for line in whole_run(self.file):
                code, out = self.run_radlc(*line, faults=refused(name, getattr(self, kind)), seconds=240)
                if code != 0:
                    print(f"{line[0]}:\n{out}", flush=True)
                    break
            if code:
                self.assertIn(code, (2, 3), out)
                self.assertIn(self.words[kind], out)
            self.brought_to_an_end("apply" if code else "destroy")

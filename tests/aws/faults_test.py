"""Runs of radlc while the API fails, by seed: nothing is leaked, doubled or forgotten, and a message names the cause.

RADL_FAULT_RUNS=n: so many seeds (`make check-faults RUNS=n`); RADL_FAULT_SEED=s: the first one. A failure prints the command that
repeats it alone.
"""
import os
import random
import re
import unittest

import certificates
from faulted import Fault, Ground, Infrastructure
from faults import (CAPACITY, EXPIRED, INSTANCES, SKEWED, UNAUTHORIZED, UNAVAILABLE, VCPUS, Always, At, Eventual, Faults, First, Market,
                    error, interrupt)
from proxy import Answer, Treatment

RUNS, FIRST = int(os.environ.get("RADL_FAULT_RUNS", 3)), int(os.environ.get("RADL_FAULT_SEED", 1))
RENEW = 20  # infrastructures, after which the account is made anew
# What a message says of each fault, as far as it ended the run.
WORDS = {
    "throttled": "RequestLimitExceeded|throttl", "internal error": "InternalError", "unavailable": "Unavailable",
    "too many": "429|Too Many", "bad gateway": "502|Bad Gateway", "garbled": "XML|understood|damaged", "cut": "XML|closed|cut|ended|transfer",
    "reset before": "connection|reset|closed|answer", "answer lost": "connection|reset|closed|answer", "no capacity": CAPACITY[0],
    "slow": "time", "delay": "time", "not there yet": "NotFound", "interrupt": "interrupt|cancel|stopp",
}


class Together:
    """The first of several faults that does something."""

    def __init__(self, *faults):
        self.faults = [fault for fault in faults if fault]

    def __call__(self, request):
        treatment = None
        for fault in self.faults:
            treatment = fault(request)
            if treatment and treatment.name:
                break
        return treatment


def names_the_cause(out, treated):
    return any(re.search(WORDS.get(name, re.escape(name)), out, re.IGNORECASE) for _, _, name in treated)


def repeat(seed):
    return f"repeat it: make check-faults RUNS=1 SEED={seed}"


def one_seed(ground, seed):
    rng = random.Random(f"scenario {seed}")
    victim = rng.choice(["apply", "apply", "change", "interrupt", "destroy"])
    eventual = Eventual(hidden=rng.choice([0, 0, 0.3]), pending=rng.choice([0, 0, 0.3]), lag=rng.choice([0, 0, 0.3]))
    zones = rng.sample("abcdef", rng.choice([0, 0, 1, 3]))
    market = Market(ground.moto, lacking=[("*", f"us-east-1{zone}") for zone in zones])
    faults = Faults(seed, share=rng.choice([0.08, 0.2, 0.4]), eventual=eventual, market=market)
    one = Infrastructure(ground, f"seed-{seed}", logs_in=seed % 8 == 0)
    try:
        inputs = ()
        if victim in ("change", "destroy"):
            one.well("apply", "--auto-approve", "site.radl")
        if victim == "change":
            inputs = rng.choice([("--input", "nodes=2"), ("--input", "nodes=0"), ("--input", "size=t3.small"), ("--input", "team=red")])
        one.inputs = inputs
        if victim == "destroy":
            code, out = one.destroy(faults)
        elif victim == "interrupt":
            code, out = one.apply(faults=Together(At(rng.randrange(1, 40), interrupt, name="interrupt"), faults))
        else:
            code, out = one.apply(*inputs, faults=faults)
        one.expect_nothing_forgotten()
        one.expect(code >= 0, "radlc was ended by a signal")
        one.expect(code == 0 or names_the_cause(out, one.said[-1][3]), "the message names no cause")
        again = one.well("apply", "--auto-approve", "site.radl", *inputs)
        if code == 0 and victim in ("apply", "change"):
            one.expect("No changes" in again, "it was not whole, and nobody said so")
        one.expect_whole(3 if "nodes=2" in inputs else 1 if "nodes=0" in inputs else 2)
        one.destroy(Faults(seed + 1000000, share=0.2))
        one.expect_nothing_forgotten()
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()
    finally:
        one.close()


class WhileTheApiFails(unittest.TestCase):
    def test_nothing_is_leaked_doubled_or_forgotten(self):
        ground, failed = Ground(), []
        try:
            for number, seed in enumerate(range(FIRST, FIRST + RUNS), 1):
                try:
                    one_seed(ground, seed)
                except Fault as fault:
                    failed.append(seed)
                    print(f"\nseed {seed}: {fault}\n{repeat(seed)}", flush=True)
                if number % RENEW == 0 or failed[-1:] == [seed]:
                    ground.close()
                    ground = Ground()
        finally:
            ground.close()
        self.assertEqual(failed, [], f"{len(failed)} of {RUNS} seeds")


def page(status):
    """What a gateway says that never asked EC2."""
    return lambda request: Treatment(refuse=Answer(status, [("Content-Type", "text/html")], b"<html><body>gateway</body></html>"))


class OnOneGround(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ground = Ground()
        cls.addClassCleanup(cls.ground.close)

    def infrastructure(self, **options):
        one = Infrastructure(self.ground, self.id().rpartition(".")[2], **options)
        self.addCleanup(one.close)
        self.addCleanup(one.destroy)  # what a failed test has left does not disturb the next
        return one


class WhatIsGone(OnOneGround):
    """Only EC2's own word that a thing is not there says so, and not of a thing that was made a moment ago."""

    def finds_its_group(self, looks):
        """The answer to the group's creation is lost; whether it was made is asked for by a list to which `looks` happens."""
        one = self.infrastructure()
        one.environment["AWS_MAX_ATTEMPTS"] = "2"
        lost = First(1, lambda request: Treatment(reset_after=True), ("CreatePlacementGroup",))
        code, _ = one.apply(faults=Together(lost, looks))
        one.expect(looks.left < 0 and lost.left <= 0, "the list was not asked for as often as it fails")
        one.expect_nothing_forgotten()
        one.expect(code == 0, f"ended with {code}")
        one.expect_whole(2)
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()

    def test_a_list_that_cannot_be_had_is_not_an_empty_one(self):
        self.finds_its_group(First(3, lambda request: Treatment(refuse=error(request, UNAVAILABLE)), ("DescribePlacementGroups",)))

    def test_one_failure_without_a_name_does_not_say_that_the_server_has_no_such_thing(self):
        self.finds_its_group(First(1, page(500), ("DescribePlacementGroups",)))

    def test_what_was_made_a_moment_ago_and_is_not_found_is_asked_for_again(self):
        one = self.infrastructure()
        one.environment["RADL_EC2_SETTLES_AFTER"] = "600"
        lagging = Faults(1, share=0, eventual=Eventual())
        one.apply(faults=lagging)
        lagging.eventual.lag_anew(2)  # however long a busy computer took until here
        code, _ = one.destroy(faults=lagging)
        refused = [action for _, action, name in one.said[-1][3] if name == "not there yet"]
        one.expect(refused, "nothing was refused")
        one.expect(code == 0, f"ended with {code}")
        one.expect_nothing()

    def test_the_page_of_a_gateway_is_not_taken_for_the_word_of_ec2(self):
        one = self.infrastructure()
        one.well("apply", "--auto-approve", "site.radl")
        removals = ("TerminateInstances", "DeleteSecurityGroup", "ReleaseAddress", "DeletePlacementGroup", "DeleteKeyPair")
        code, out = one.destroy(faults=First(1000, page(404), removals))
        one.expect(code == 2 and "404" in out and "endpoint" in out, f"ended with {code}")
        one.expect_nothing_forgotten()
        one.expect(len(one.there()) >= 7, "something is gone")
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()


class Refusals(OnOneGround):
    """What no patience helps against ends the run with one message that names it, and leaves nothing."""

    def ends_with(self, faults, *words):
        one = self.infrastructure()
        code, out = one.apply(faults=faults)
        one.expect(code > 0, "it must fail")
        for word in words:
            one.expect(re.search(word, out, re.IGNORECASE), f"no word of {word}")
        one.expect_nothing_forgotten()
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()

    def test_no_capacity_in_any_zone(self):
        self.ends_with(Market(self.ground.moto, lacking=[("t3.micro", "*")]), CAPACITY[0], "t3.micro")

    def test_the_limit_of_instances(self):
        self.ends_with(Market(self.ground.moto, refused=[("t3.micro", INSTANCES)]), INSTANCES[0])

    def test_the_limit_of_vcpus(self):
        self.ends_with(Market(self.ground.moto, refused=[("t3.micro", VCPUS)]), VCPUS[0])

    def test_expired_credentials(self):
        self.ends_with(Always(EXPIRED), "expired")

    def test_a_clock_that_is_wrong(self):
        self.ends_with(Always(SKEWED), "expired|clock")

    def test_keys_that_nobody_knows(self):
        self.ends_with(Always(UNAUTHORIZED), "AuthFailure|credentials")

    def refuses_tls(self, tls, bundle, *words):
        """Not a request is sent, and the message says what is wrong with the certificate."""
        one = self.infrastructure(tls=tls)
        one.environment["AWS_CA_BUNDLE"] = str(bundle)
        code, out = one.apply()
        one.expect(code > 0 and not one.proxy.log, f"requests were sent: {one.proxy.calls()}")
        for word in words:
            one.expect(re.search(word, out, re.IGNORECASE), f"no word of {word}")

    def test_a_server_that_nobody_vouches_for_gets_no_request(self):
        context, _ = certificates.server(self.ground.folder / "unknown")
        _, other = certificates.server(self.ground.folder / "other")
        self.refuses_tls(context, other, "certificate|TLS|SSL")

    def test_an_expired_certificate_gets_no_request(self):
        context, bundle = certificates.server(self.ground.folder / "expired", days=-1)
        self.refuses_tls(context, bundle, "certificate", "expired")

    def test_a_certificate_for_another_host_gets_no_request(self):
        context, bundle = certificates.server(self.ground.folder / "host", host="127.0.0.9")
        self.refuses_tls(context, bundle, "certificate|127.0.0.1")

    def test_an_authority_of_ones_own_is_trusted_where_it_is_named(self):
        context, bundle = certificates.server(self.ground.folder / "own")
        one = self.infrastructure(tls=context)
        one.environment["AWS_CA_BUNDLE"] = str(bundle)
        one.well("apply", "--auto-approve", "site.radl")
        one.expect_whole(2)
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()


if __name__ == "__main__":
    unittest.main()

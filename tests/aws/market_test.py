"""Spot machines as the market has them: their prices, the highest price, what comes in their place; and accounts side by side."""
import http.server
import json
import threading
import unittest

from account import instances
from aws_case import SYSTEM, AwsCase
from faults import error
from proxy import Answer, Treatment

FILE = f"""radl 2
system node ( instance_type = 't3.micro', spot = 'yes', price <= 0.02, spot.fallback = 'yes', {SYSTEM} )
deploy node 1 ec2
contextualize ()
"""


class Market(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.let_moto_read_its_prices()
        self.file = self.write("site.radl", FILE)

    def refuse_spot(self, code, status):
        def faults(request):
            spot = request.parameter("InstanceMarketOptions.MarketType") == "spot"
            return Treatment(name=code, refuse=error(request, (code, "not now", status))) if spot else None
        self.proxy.faults = faults

    def market(self):
        return [i.get("InstanceLifecycle", "on-demand") for i in self.ours()]

    def destroy(self):
        self.proxy.faults = None
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_prices_are_those_of_the_market_where_somebody_asks_for_them(self):
        offline = self.plan(self.file)["costs"][0]["candidates"]
        self.assertEqual([c["market"] for c in offline], ["spot", "on-demand"])
        self.assertEqual(self.proxy.log, [])
        self.radlc("plan", "--refresh", self.file)
        (asked,) = [r for r in self.proxy.log if r.action == "DescribeSpotPriceHistory"]
        self.assertEqual(asked.parameter("ProductDescription.1"), "Linux/UNIX")
        self.assertEqual([asked.parameter(f"Filter.1.{name}") for name in ("Name", "Value.1", "Value.2")], ["instance-type", "t3.micro", ""])
        told = {p["SpotPrice"] for p in self.moto.client("ec2").describe_spot_price_history(InstanceTypes=["t3.micro"])["SpotPriceHistory"]}
        self.assertTrue(told)

    def test_the_price_is_the_lowest_of_all_pages_of_the_history(self):
        def page(price, zone, after):
            item = (f"<item><instanceType>t3.micro</instanceType><productDescription>Linux/UNIX</productDescription><spotPrice>{price}</spotPrice>"
                    f"<availabilityZone>us-east-1{zone}</availabilityZone></item>")
            return Answer.xml("<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>" + (item if price else "") + "</spotPriceHistorySet>"
                              f"<nextToken>{after}</nextToken></DescribeSpotPriceHistoryResponse>")

        pages = {"": page("0.0091", "a", "p2"), "p2": page("", "", "p3"), "p3": page("0.0037", "b", "p4"), "p4": page("0.0054", "c", "")}

        def faults(request):
            priced = request.action == "DescribeSpotPriceHistory"
            return Treatment(refuse=pages[request.parameter("NextToken")]) if priced else None

        self.proxy.faults = faults
        (node,) = self.plan("--refresh", self.file)["costs"]
        self.assertEqual(node["price_per_hour"]["micros"], 3700, node)
        asked = [r.parameter("NextToken") for r in self.proxy.log if r.action == "DescribeSpotPriceHistory"]
        self.assertEqual(asked, ["", "p2", "p3", "p4"], "an empty page is not the last one")

    def test_the_highest_price_is_asked_for_and_a_machine_on_demand_comes_where_there_is_no_spot(self):
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.market(), ["spot"])
        launch = next(r for r in self.proxy.log if r.action == "RunInstances")
        self.assertEqual(launch.parameter("InstanceMarketOptions.SpotOptions.MaxPrice"), "0.02")
        self.destroy()
        for code, status in (("InsufficientInstanceCapacity", 500), ("MaxSpotInstanceCountExceeded", 400), ("UnfulfillableCapacity", 500)):
            with self.subTest(code):
                self.refuse_spot(code, status)
                out = self.radlc("apply", "--auto-approve", self.file)
                self.assertRegex(out, f"{code}.*: trying t3.micro on-demand")
                self.assertEqual(self.market(), ["on-demand"])
                self.radlc("plan", "--detailed-exitcode", self.file)
                self.destroy()

    def test_without_a_fallback_the_apply_ends_with_the_reason_of_each_zone(self):
        self.edit(self.file, (", spot.fallback = 'yes'", ""))
        self.refuse_spot("SpotMaxPriceTooLow", 400)
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertIn("no capacity for spot t3.micro: us-east-1a: SpotMaxPriceTooLow; us-east-1b:", self.err)
        self.assertEqual(self.market(), [])
        self.destroy()


class Quotas(http.server.BaseHTTPRequestHandler):
    """Service Quotas with a quota of one vCPU of spot machines and ten on demand; moto has none for EC2."""
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"Quotas": [{"QuotaCode": "L-34B43A08", "Value": 1.0}, {"QuotaCode": "L-1216C47A", "Value": 10.0}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


TRAINS = f"""radl 2
network lan (outbound = 'no')
system ps ( instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM} )
system worker ( instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM} )
deploy ps 1 ec2
deploy worker 2 ec2
use 'std/training/parameter_server' as small (servers = system.ps, workers = system.worker, model = 'logistic', dataset = 'cifar10', result = 'out')
"""
KNOWN = {"calibration": 1, "runs": [], "studies": [], "profiles": [{
    "family": "logistic on cifar10", "machine": "ec2 t3.small", "cores": 2, "flop_per_image": 1e5, "memory_bytes": 1e7,
    "memory_bytes_per_image": 1e5, "taken_at": "2026-11-22T10:00:00Z", "version": "0.1.0",
    "node": {"steps": [{"batch": 32, "seconds": 0.005}, {"batch": 128, "seconds": 0.02}], "parameter_bytes": 123000, "backward_share": 0.6,
             "spread": 0.05, "largest_batch": 0}}]}


class AboveQuota(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.let_moto_read_its_prices()

    def test_a_refreshed_plan_says_what_is_above_a_quota(self):
        file = self.write("site.radl", FILE)
        self.assertIn("note: ec2:/us-east-1: the account's quotas are not known: ", self.radlc("plan", "--refresh", file))
        self.serve_quotas()
        out = self.radlc("plan", "--refresh", file)
        self.assertIn("the plan needs 2 vCPUs of spot standard instances (A, C, D, H, I, M, R, T, Z), but the account's quota is 1", out)
        self.assertNotIn("quota", self.radlc("plan", file))

    def test_what_is_above_a_quota_is_not_recommended(self):
        file = self.write("train.radl", TRAINS)
        self.write("known.json", json.dumps(KNOWN))
        self.radlc("calibration", "import", "known.json")
        ask = ("recommend", file, "--json", "--workers", "1..8")
        offline = json.loads(self.radlc(*ask))
        self.assertFalse([c for c in offline["candidates"] if c["verdict"] == "quota"])
        self.assertIn("the account's quotas are unknown; --refresh queries them", offline["notes"])
        self.serve_quotas()
        asked = json.loads(self.radlc(*ask, "--refresh"))
        above = {c["name"]: c["why"] for c in asked["candidates"] if c["verdict"] == "quota"}
        # Two vCPUs each: five machines are ten.
        self.assertEqual(sorted(name for name in above if name.endswith("/ring")), [f"{n}xt3.small/ring" for n in (6, 7, 8)])
        self.assertRegex(above["6xt3.small/ring"], r"12 are needed, and the quota of vCPUs of on-demand standard instances .* has 10 left")
        self.assertTrue(any(name.startswith("5xt3.small/async-server") for name in above), "the server counts with them")
        self.assertNotIn(asked["chosen"], above)

    def serve_quotas(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quotas)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.environment["AWS_ENDPOINT_URL_SERVICE_QUOTAS"] = f"http://127.0.0.1:{server.server_port}"


TWO = f"""radl 2
network lan ()
system a ( instance_type = 't3.micro', net_interface.0.connection = 'lan', {SYSTEM} )
system b ( instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM} )
deploy a 1 one
deploy b 1 two
contextualize ()
"""


class Accounts(AwsCase):
    """One file, two lines of an auth file: each machine in its own account, and never in the other."""
    boots, quick = False, True

    def line(self, name, keys):
        token = f"; token = '{keys['aws_session_token']}'" if "aws_session_token" in keys else ""
        return f"id = {name}; type = EC2; username = {keys['aws_access_key_id']}; password = '{keys['aws_secret_access_key']}'{token}\n"

    def auth(self, name, one, two):
        path = self.write(name, self.line("one", one) + self.line("two", two))
        path.chmod(0o600)
        return path

    def types(self):
        return [i["InstanceType"] for i in self.ours()], [i["InstanceType"] for i in instances(self.second)]

    def test_each_machine_is_in_its_own_account_and_stays_there(self):
        given = self.moto.client("sts").assume_role(RoleArn="arn:aws:iam::210987654321:role/other", RoleSessionName="tests")["Credentials"]
        other = {"aws_access_key_id": given["AccessKeyId"], "aws_secret_access_key": given["SecretAccessKey"],
                 "aws_session_token": given["SessionToken"]}
        self.second = self.moto.client("ec2", keys=other)
        self.moto.check_signatures(False)  # the other account has no policies
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del self.environment[name]
        file = self.write("two.radl", TWO)
        auth, swapped = self.auth("auth.dat", self.moto.user, other), self.auth("swapped.dat", other, self.moto.user)
        self.radlc("apply", "--auto-approve", "--auth", auth, file)
        self.assertEqual(self.types(), (["t3.micro"], ["t3.small"]))
        before = len(self.proxy.log)
        for command in ("apply", "destroy"):  # somebody has mixed the keys up
            self.radlc(command, "--auto-approve", "--auth", swapped, file, code=2)
            self.assertIn("this infrastructure is in account 123456789012, and the credentials in use belong to account 210987654321", self.err)
        self.assertEqual({r.action for r in self.proxy.log[before:]}, {"GetCallerIdentity"})
        self.radlc("destroy", "--auto-approve", file, code=2)
        self.assertIn("there are no credentials named 'one'", self.err)
        self.assertEqual(self.types(), (["t3.micro"], ["t3.small"]))
        self.radlc("destroy", "--auto-approve", "--auth", auth, file)
        self.assertEqual(self.types(), ([], []))
        self.moto.check_signatures()
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()

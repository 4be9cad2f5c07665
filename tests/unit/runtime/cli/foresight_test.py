"""`radlc recommend`, `profile`, `calibration`, and the forecast in `plan`: what is said before anything is paid for."""
import functools
import http.server
import json
import pathlib
import platform
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
import zlib

from foresight_case import ENGINE, ForesightCase, FAMILY, RADLC, SERVED, SITE, profile, work


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def photos(folder, side):
    """Two classes of six gray images each."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for number in range(12):
        at = pathlib.Path(folder) / f"class{number % 2}"
        at.mkdir(parents=True, exist_ok=True)
        rows = (b"\0" + bytes([20 * number]) * (3 * side)) * side
        head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        (at / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Studies(ForesightCase):
    def ask(self, *arguments):
        return json.loads(self.radlc("recommend", "--study", "mnist", "--json", *arguments))

    def test_look_up_gives_the_published_answers_and_ours_keeps_one_node(self):
        at = ("--batch", 6400, "--latency", 60, "--algorithm", "lookup")
        self.assertEqual(self.ask(*at, "--as-published")["workers"], 3)
        self.assertEqual(self.ask(*at)["workers"], 1)

    def test_what_no_row_has_is_not_found_and_the_nearest_are_named(self):
        self.fails(3, "batch 2560 at 60 ms", "recommend", "--study", "mnist", "--batch", 3000, "--latency", 60, "--algorithm", "lookup")

    def test_the_model_answers_between_rows_and_says_when_it_is_outside(self):
        answer = self.ask("--batch", 3000, "--latency", 60, "--workers", "2..4")
        self.assertEqual(answer["workers"], 2)
        for size in answer["sizes"]:
            self.assertLess(size["epoch_seconds"]["low"], size["epoch_seconds"]["value"])
            self.assertEqual(size["outside"], [])
        self.assertEqual(self.ask("--batch", 3000, "--workers", "8")["sizes"][0]["outside"], ["8 nodes were never measured"])

    def test_a_gap_of_the_data_is_outside_and_the_smaller_of_two_alike_wins(self):
        answer = self.ask("--batch", 64000, "--latency", 20)
        self.assertEqual(answer["workers"], 3, "the study's own example")
        four = next(size for size in answer["sizes"] if size["workers"] == 4)
        self.assertEqual(len(four["outside"]), 1)
        self.assertIsNone(four["measured_seconds"])
        text = self.radlc("recommend", "--study", "mnist", "--batch", 64000, "--latency", 20)
        self.assertTrue(text.startswith("Take 3 nodes:"), text)

    def test_two_machine_types_never_make_one_answer(self):
        rows = "".join(f"mine,{m},{n},{b},0,{b / n / s + 2 * n},here\n" for m, s in (("a big", 100), ("a small", 10)) for n in (1, 2, 4) for b in (100, 200, 400))
        (self.at / "mine.csv").write_text("study,machine,machines,batch,latency_ms,seconds,where\n" + rows)
        self.radlc("calibration", "import", "mine.csv")
        for algorithm in ("model", "lookup"):
            self.fails(1, "several machine types", "recommend", "--study", "mine", "--batch", "200", "--algorithm", algorithm)
        for types, nodes in (("small", 4), ("a big", 1)):
            answer = json.loads(self.radlc("recommend", "--study", "mine", "--batch", "200", "--types", types, "--algorithm", "lookup", "--json"))
            self.assertEqual(answer["workers"], nodes)

    def test_a_batch_that_did_not_fit_is_rejected(self):
        alone = self.ask("--batch", 64000)["sizes"][0]
        self.assertIn("do not fit into memory", alone["why"])

    def test_a_study_of_ones_own(self):
        rows = "".join(f"mine,box,{n},{b},0,{b / n / 10 + 2 * n},here\n" for n in (1, 2, 4) for b in (100, 200, 400))
        (self.at / "mine.csv").write_text("study,machine,machines,batch,latency_ms,seconds,where\n" + rows)
        self.radlc("calibration", "import", "mine.csv")
        answer = json.loads(self.radlc("recommend", "--study", "mine", "--batch", "300", "--json"))
        self.assertEqual(answer["workers"], 4)
        self.fails(1, "available: cifar, mine, mnist", "recommend", "--study", "none", "--batch", "1")


class Recommend(ForesightCase):
    def test_first_contact_is_by_the_arithmetic_and_says_so(self):
        answer = self.recommend("--types", "c5.xlarge")
        self.assertIn("never measured", answer["outside"])
        chosen = next(c for c in answer["candidates"] if c["name"] == answer["chosen"])
        self.assertGreater(chosen["seconds"]["high"], 1.5 * chosen["seconds"]["value"])
        self.assertIn("radlc profile site.radl.", self.radlc("recommend", "site.radl", "--types", "c5.xlarge"))

    def test_a_type_that_computes_by_credits_is_not_chosen_for_a_training(self):
        self.know(profile())
        wide = SITE.replace("'c5.*'", "'*'")
        (self.at / "site.radl").write_text(wide.replace("cpu.count >= 4", "cpu.count >= 2"))
        answer = self.recommend("--objective", "cost", "--workers", "1")
        burstable = ("t2.", "t3.", "t3a.", "t4g.")
        self.assertTrue(any(c["type"].startswith(burstable) and c["verdict"] == "fits" for c in answer["candidates"]))
        self.assertFalse(answer["chosen"].split("x", 1)[1].startswith(burstable), answer["chosen"])
        self.assertTrue(any("CPU credits" in note for note in answer["notes"]), answer["notes"])
        named = self.recommend("--objective", "cost", "--workers", "1", "--types", "t3.xlarge,c5.24xlarge")
        self.assertIn("t3.xlarge", named["chosen"], "it was asked for by name")
        text = self.radlc("recommend", "site.radl", "--types", "t3.*,t2.*", "--explain", "1xt3.xlarge/alone")
        self.assertRegex(text, r"CPU baseline +40% of each core")
        self.assertRegex(text, r"CPU surplus +0\.12 USD/h")  # 4 cores, 60% of each above the baseline, 0.05 USD
        self.assertRegex(self.radlc("recommend", "site.radl", "--types", "t2.*", "--explain", "1xt2.xlarge/alone"), r"CPU credits +120 core minutes")

    def test_the_best_is_on_the_frontier_and_nothing_within_limits_beats_it(self):
        self.know(profile())
        for objective, key in (("time", lambda c: c["seconds"]["value"]), ("cost", lambda c: c["cost"]["micros"])):
            answer = self.recommend("--objective", objective, "--budget", "2/h")
            fits = [c for c in answer["candidates"] if c["verdict"] == "fits"]
            chosen = next(c for c in fits if c["name"] == answer["chosen"])
            self.assertTrue(chosen["frontier"])
            self.assertEqual(key(chosen), min(map(key, fits)))
            self.assertTrue(all(c["per_hour"]["micros"] <= 2000000 for c in fits))
            self.assertTrue(any(c["verdict"] == "budget" for c in answer["candidates"]))
        self.assertEqual(len(answer["calibration"]), 64)

    def test_nothing_within_limits_is_exit_3_with_what_would_do(self):
        self.know(profile())
        self.fails(3, "smallest budget that works: ", "recommend", "site.radl", "--budget", "0.01")
        self.fails(3, "earliest deadline: ", "recommend", "site.radl", "--deadline", "1s")

    def test_what_would_do_is_enough_when_it_is_given(self):
        self.know(profile())
        fits = self.recommend("--types", "c5.xlarge")["candidates"]
        quick = min(c["seconds"]["high"] for c in fits) + 0.01
        at = ("recommend", "site.radl", "--types", "c5.xlarge", "--deadline", f"{quick:.2f}s", "--budget")
        done = self.run_it(*at, "0.2")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        least = done.stderr.split("smallest budget that works: ")[1].split("/h")[0]
        self.assertGreater(float(least.split()[0]), 0.2, "the cheapest is too slow")
        self.assertIn("* ", self.radlc(*at, least))
        self.fails(3, "relax at least two limits", *at[:-2], "1s", "--budget", "0.01")

    def test_limits_that_are_none_are_refused_by_their_names(self):
        self.know(profile())
        for option, value, said in (("--budget", "0", "--budget"), ("--budget", "1e-9", "--budget"), ("--budget", "nan", "--budget"),
                                    ("--budget", "", "--budget"), ("--max-cost", "2/h", "--max-cost"), ("--deadline", "1e308d", "--deadline"),
                                    ("--deadline", "-1h", "--deadline"), ("--workers", "", "--workers"), ("--workers", "0", "--workers"),
                                    ("--types", "", "--types"), ("--batch", "100.5", "--batch"), ("--batch", "nan", "--batch"),
                                    ("--images", "inf", "--images"), ("--images", "0.1", "--images"), ("--latency", "nan", "--latency"),
                                    ("--confidence", "1", "--confidence"), ("--objective", "weights:0,0", "--objective"),
                                    ("--objective", "weights:nan,1", "--objective"), ("--budget", "2 EUR", "does not convert currencies")):
            with self.subTest(option=option, value=value):
                self.fails(1, said, "recommend", "site.radl", "--types", "c5.xlarge", option, value)
        # Weights may be as large as they like: what counts is how they stand to each other.
        alike = [self.recommend("--types", "c5.xlarge", "--objective", f"weights:{w},{w}")["chosen"] for w in ("1", "1e308", "1e-300")]
        self.assertEqual(len(set(alike)), 1, alike)

    def test_a_file_that_is_no_input_file_is_not_written_over(self):
        self.know(profile())
        self.fails(1, "site.radl exists", "recommend", "site.radl", "--types", "c5.xlarge", "--write", "site.radl", *SERVED)
        self.assertEqual((self.at / "site.radl").read_text(), SITE)
        self.fails(1, "site.radl exists", "calibration", "export", "site.radl")
        self.assertEqual((self.at / "site.radl").read_text(), SITE)
        for _ in range(2):  # its own may be
            self.radlc("recommend", "site.radl", "--types", "c5.xlarge", "--write", "choice.json", *SERVED)

    def other_architecture(self):
        """The name of another architecture than this computer's, which is the engine's, and a type that has it."""
        other = "x86_64" if platform.machine() == "aarch64" else "arm64"
        types = json.loads(self.radlc("catalog", "list", "--cloud", "ec2", "--region", "eu-west-1", "--arch", other, "--cpu", "4", "--json"))
        return other, types[0]["name"]

    def test_a_pattern_never_mixes_architectures(self):
        self.know(profile())
        _, other = self.other_architecture()
        names = [c["name"] for c in self.recommend("--input", "worker_type=*", "--types", f"c5.xlarge,{other}", "--workers", "2")["candidates"]]
        self.assertTrue(names)
        self.assertFalse([name for name in names if other in name])
        actions = json.loads(self.radlc("plan", "--json", "site.radl", "--input", "worker_type=*"))["actions"]
        types = {action["spec"]["type"] for action in actions if action["id"].startswith(("ps[", "worker["))}
        self.assertEqual(len(types), 2)
        for name in types:
            shown = json.dumps(json.loads(self.radlc("catalog", "show", name, "--cloud", "ec2", "--region", "eu-west-1", "--json")))
            self.assertIn("x86_64", shown)

    def test_a_training_on_machines_that_the_engine_is_not_for_is_refused_by_the_plan(self):
        other, name = self.other_architecture()
        self.fails(1, other, "plan", "site.radl", "--input", f"worker_type={name}")

    def test_options_without_a_part_in_the_answer_are_refused(self):
        self.know(profile())
        for said, arguments in (("--interruptions", ("site.radl", "--interruptions", "1")), ("--json", ("site.radl", "--compare", "--json")),
                                ("--json", ("site.radl", "--explain", "1xc5.xlarge/alone", "--json")),
                                ("--budget", ("--study", "mnist", "--batch", "640", "--budget", "1")),
                                ("FILE", ("site.radl", "--study", "mnist", "--batch", "640")),
                                ("--latency", ("--study", "mnist", "--batch", "640", "--latency", "nan"))):
            with self.subTest(arguments=arguments):
                self.fails(1, said, "recommend", *arguments)

    def test_a_batch_beyond_memory_does_not_send_to_a_profile(self):
        self.know(profile())
        done = self.run_it("recommend", "site.radl", "--batch", "1000000000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not fit into the memory", done.stderr)
        self.assertNotIn("radlc profile", done.stderr)

    def test_the_choice_is_an_input_file_that_plan_takes(self):
        self.know(profile())
        answer = self.recommend("--workers", "3", "--write", "choice.json", "--types", "c5.xlarge", *SERVED)
        chosen = json.loads((self.at / "choice.json").read_text())
        self.assertEqual((chosen["workers"], chosen["worker_type"]), (3, "c5.xlarge"))
        self.assertIn(chosen["mode"], ("sync", "async"))
        self.assertTrue(answer["chosen"].startswith("3xc5.xlarge/"))
        plan = self.radlc("plan", "site.radl", "--input-file", "choice.json")
        self.assertIn("worker[0..2]", plan)
        self.assertIn("c5.xlarge", plan)

    def test_the_choice_is_applied(self):
        here = self.train_here()
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        self.recommend("--input", "cloud=local", "--workers", "2", "--write", "choice.json", *SERVED)
        chosen = json.loads((self.at / "choice.json").read_text())
        self.assertEqual(chosen["workers"], 2)
        self.addCleanup(self.run_it, "destroy", "site.radl", "--auto-approve")
        self.radlc("apply", "site.radl", "--auto-approve", "--input", "cloud=local", "--input-file", "choice.json")
        self.assertIn("worker[1]", self.radlc("show", "site.radl"))
        self.assertTrue(list((self.at / "out").iterdir()), "no model was brought back")
        (run,) = json.loads(self.radlc("calibration", "export"))["runs"]
        self.assertEqual((run["exchange"], run["workers"]), (chosen["mode"] + " server", 2))
        self.radlc("destroy", "site.radl", "--auto-approve")

    def test_a_choice_that_the_file_has_no_input_for_is_refused(self):
        self.know(profile())
        text = SITE.replace("input worker_type (type = string, default = 'c5.*')\n", "").replace(", instance_type = input.worker_type", "")
        (self.at / "site.radl").write_text(text)
        self.fails(1, "input worker_type", "recommend", "site.radl", "--types", "c5.24xlarge", "--write", "choice.json", *SERVED)
        self.assertFalse((self.at / "choice.json").exists())

    def test_writing_the_choice_asks_the_same_question(self):
        self.know(profile())
        at, alone = ("--types", "c5.xlarge", "--workers", "1..4"), ("--exchange", "alone,ring")
        asked = self.recommend(*at, *alone)["chosen"]
        done = self.run_it("recommend", "site.radl", *at, *alone, "--write", "choice.json")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(f"Take {asked}:"), done.stdout)
        self.assertIn("--exchange sync-server,async-server", done.stderr)
        self.assertFalse((self.at / "choice.json").exists())
        served = self.recommend(*at, *SERVED)
        self.assertEqual(self.recommend(*at, *SERVED, "--write", "choice.json")["chosen"], served["chosen"])
        self.assertTrue((self.at / "choice.json").exists())

    def test_the_answer_comes_first_with_at_most_ten_alternatives(self):
        self.know(profile())
        for objective in ("time", "cost"):
            lines = self.radlc("recommend", "site.radl", "--input", "worker_type=*", "--objective", objective, "--deadline", "3h").splitlines()
            self.assertRegex(lines[0], r"^Take \d+x\S+: ")
            shown = [line for line in lines if "/ring" in line or "-server" in line or "/alone" in line]
            listed = [line for line in shown if not line.startswith(("Take", "  rejected"))]
            self.assertTrue(listed[0].startswith("  * "), listed[0])
            self.assertLessEqual(len(listed), 11)
            self.assertTrue(any("--all lists them" in line for line in lines))
        everything = self.radlc("recommend", "site.radl", "--input", "worker_type=*", "--all", "--deadline", "3h")
        self.assertGreater(len(everything.splitlines()), 100)

    def test_without_limits_defaults_hold_and_are_stated(self):
        self.know(profile())
        answer = self.recommend("--input", "worker_type=*")
        self.assertEqual(answer["defaults"]["per_hour"]["micros"], 10000000)
        self.assertEqual(answer["defaults"]["workers"], [1, 16])
        chosen = next(c for c in answer["candidates"] if c["name"] == answer["chosen"])
        self.assertLessEqual(chosen["per_hour"]["micros"], 10000000)
        self.assertIn("--budget", self.radlc("recommend", "site.radl").splitlines()[2])
        self.assertNotIn("per_hour", self.recommend("--deadline", "3h", "--workers", "1..4")["defaults"])
        # A default keeps nothing from being answered.
        dear = self.recommend("--types", "c5.24xlarge", "--workers", "16", "--exchange", "ring")
        self.assertEqual(dear["chosen"], "16xc5.24xlarge/ring")

    def test_types_with_gpus_are_left_out_or_judged_by_their_cores_and_it_says_so(self):
        self.know(profile())
        answer = self.recommend("--input", "worker_type=*", "--workers", "1")
        self.assertFalse([c["name"] for c in answer["candidates"] if c["type"].startswith(("g4dn.", "p3."))])
        self.assertTrue(any("with GPUs left out" in note for note in answer["notes"]), answer["notes"])
        named = self.recommend("--types", "g4dn.xlarge", "--workers", "1", "--exchange", "alone")
        self.assertEqual(named["chosen"], "1xg4dn.xlarge/alone")
        self.assertTrue(any("judged by their CPU cores" in note for note in named["notes"]), named["notes"])

    def test_the_network_of_gce_and_azure_is_known(self):
        self.know(profile())
        for cloud, region, names in (("gce", "europe-west1", "n2-standard-*"), ("azure", "westeurope", "Standard_D*s_v5")):
            with self.subTest(cloud=cloud):
                types = json.loads(self.radlc("catalog", "list", "--cloud", cloud, "--region", region, "--type", names, "--json"))
                self.assertTrue(types)
                for one in types:
                    self.assertGreaterEqual(one["network_peak_bits_per_second"], 10e9, one["name"])
    def test_explain_has_every_part_with_its_source(self):
        self.know(profile())
        text = self.radlc("recommend", "site.radl", "--types", "c5.xlarge", "--explain", "4xc5.xlarge/ring")
        for part in ("compute", "bandwidth", "latency", "bound by", "measured on ec2 c5.xlarge", "the catalogue's network", "guessed"):
            self.assertIn(part, text)
        self.fails(1, "did you mean 4xc5.xlarge/ring?", "recommend", "site.radl", "--types", "c5.xlarge", "--explain", "4xc5.xlarge/rinq")

    def test_published_algorithms_stand_beside_the_model(self):
        self.know(profile())
        text = self.radlc("recommend", "site.radl", "--budget", "2", "--compare")
        for name in ("model", "cost-opt", "time-opt", "scala-opt", "lookup"):
            self.assertRegex(text, rf"(?m)^{name} ")
        answer = self.recommend("--budget", "2", "--algorithm", "cost-opt")
        self.assertLess(len(self.radlc("recommend", "site.radl", "--input", "worker_type=*", "--budget", "2", "--algorithm", "cost-opt").splitlines()), 10)
        prices = json.loads(self.radlc("catalog", "list", "--region", "eu-west-1", "--type", "c5.*", "--cpu", "4", "--json"))
        self.assertEqual(answer["type"], min(prices, key=lambda t: t["on_demand"]["per_hour"]["micros"])["name"])

    def test_a_published_algorithm_has_no_hidden_limit_and_keeps_to_the_given_ones(self):
        self.know(profile())
        ask = functools.partial(self.recommend, "--types", "c5.xlarge", "--server", "c5.large", "--algorithm", "cost-opt")
        self.assertGreater(ask("--budget", "8")["workers"], 16)
        self.assertEqual(ask("--budget", "8", "--workers", "2,4,8")["workers"], 8)
        self.assertEqual(ask("--max-workers", "5")["workers"], 5)
        self.fails(3, "--workers begins at 40", "recommend", "site.radl", "--types", "c5.xlarge", "--server", "c5.large", "--algorithm", "cost-opt",
                   "--budget", "2", "--workers", "40..50")
        self.fails(1, "--max-workers", "recommend", "site.radl", "--types", "c5.xlarge", "--algorithm", "cost-opt")
        self.fails(1, "--deadline", "recommend", "site.radl", "--algorithm", "time-opt", "--budget", "2", "--deadline", "1h")
        self.fails(1, "names", "recommend", "site.radl", "--algorithm", "scala-opt-m", "--types", "c5.*", "--budget", "2")

    def test_the_server_of_fc2_is_the_widest_that_the_budget_leaves(self):
        self.know(profile())
        answer = self.recommend("--types", "c5.xlarge", "--algorithm", "cost-opt", "--budget", "5")
        offered = {c["server"] for c in self.recommend("--types", "c5.xlarge", "--budget", "5", *SERVED)["candidates"]}
        self.assertNotIn(answer["server"], offered, "FC2 chooses among all types that the file allows, the model among two")

    def test_a_look_up_in_runs_takes_the_measured_round_trip(self):
        self.know(profile(), runs=[self.ran(2, 4.999999999999999, 30), self.ran(4, 5.02, 20), self.ran(2, 60, 90)])
        answer = self.recommend("--types", "c5.xlarge", "--algorithm", "lookup", "--latency", "5", "--batch", "64")
        self.assertEqual((answer["workers"], answer["machine"]), (4, "ec2 c5.xlarge"))
        far = self.recommend("--types", "c5.xlarge", "--algorithm", "lookup", "--batch", "64")
        self.assertAlmostEqual(far["latency_ms"], 60)  # of the newest run
        self.radlc("recommend", "site.radl", "--types", "c5.xlarge", "--algorithm", "lookup", "--latency", "5", "--batch", "64", "--write", "choice.json")
        self.assertEqual(json.loads((self.at / "choice.json").read_text())["workers"], 4)
        self.fails(3, "no row has", "recommend", "site.radl", "--algorithm", "lookup", "--latency", "20", "--batch", "64")

    def test_questions_that_are_none(self):
        self.know(profile())
        for said, arguments in [
                ("--budget", ("--budget", "much")), ("--budget", ("--budget", "-1")), ("an hour", ("--max-cost", "2/h")),
                ("does not convert currencies", ("--budget", "2 EUR/h")), ("--deadline", ("--deadline", "soon")), ("--objective", ("--objective", "weights:0,0")),
                ("--objective", ("--objective", "weights:-1,2")), ("--workers", ("--workers", "0")), ("--workers", ("--workers", "4..2")),
                ("--workers", ("--workers", "8", "--max-workers", "4")), ("--confidence", ("--confidence", "1")), ("--latency", ("--latency", "-3")),
                ("has no type like", ("--types", "nothing.*"))]:
            with self.subTest(arguments=arguments):
                self.fails(1, said, "recommend", "site.radl", *arguments)


    def ran(self, workers, latency_ms, seconds):
        return {"digest": "d", "family": FAMILY, "work": work(), "machine": "ec2 c5.xlarge", "exchange": "async server", "workers": workers, "servers": 1,
                "batch": 128 / workers, "latency_ms": latency_ms, "bits_per_second": 1e9, "sent_bytes": 0, "received_bytes": 0,
                "measured_bits_per_second": 0, "epochs": 1, "images": 50000, "analytic_seconds": 0, "seconds": seconds, "cost": 0, "currency": "USD",
                "time": 1000 + latency_ms, "version": "0.1.0"}


class Calibration(ForesightCase):
    def test_goes_out_and_comes_back_and_is_forgotten(self):
        self.know(profile(), profile("local", 2))
        exported = self.radlc("calibration", "export")
        self.assertEqual(len(json.loads(exported)["profiles"]), 2)
        self.assertNotIn(str(self.at), exported)
        self.assertIn(FAMILY, self.radlc("calibration", "show"))
        self.radlc("calibration", "forget", FAMILY)
        self.assertEqual(json.loads(self.radlc("calibration", "export"))["profiles"], [])
        (self.at / "again.json").write_text(exported)
        self.radlc("calibration", "import", "again.json")
        self.assertEqual(self.radlc("calibration", "export"), exported)
        self.fails(1, "no measurements of 'x'", "calibration", "forget", "x")

    def test_what_is_no_calibration_is_refused_whole(self):
        (self.at / "bad.json").write_text(json.dumps({"calibration": 1, "profiles": [profile(), {}], "runs": [], "studies": []}))
        self.fails(1, "no calibration", "calibration", "import", "bad.json")
        wrong = profile()
        wrong["node"]["backward_share"] = 5
        (self.at / "bad.json").write_text(json.dumps({"calibration": 1, "profiles": [wrong], "runs": [], "studies": []}))
        self.fails(1, "backward_share is a share", "calibration", "import", "bad.json")
        (self.at / "bad.json").write_text("{")
        self.fails(1, "not a file that `radlc calibration export` wrote", "calibration", "import", "bad.json")
        (self.at / "empty.csv").write_text("")
        self.fails(1, "it has no rows", "calibration", "import", "empty.csv")
        self.assertEqual(json.loads(self.radlc("calibration", "export"))["profiles"], [])


class Plans(ForesightCase):
    def test_a_plan_ends_with_time_and_money_of_its_training(self):
        self.know(profile(), profile("local", 2))
        text = self.radlc("plan", "site.radl")
        for part in ("Forecast of training/training:", "create", "stage", "train", "total", "cost", "A step is bound by"):
            self.assertIn(part, text)
        self.assertTrue(text.splitlines()[-1].startswith("Plan: "))
        (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl"))["forecasts"]
        self.assertLess(forecast["total"]["low"], forecast["total"]["seconds"])
        self.assertEqual(forecast["phases"]["create"]["source"], "guessed")
        self.assertEqual(forecast["cost"]["value"]["currency"], "USD")
        self.assertEqual(len(forecast["calibration"]), 64)
        for option in ("--markdown", "--html=page.html"):
            shown = self.radlc("plan", "site.radl", option)
            self.assertIn("Forecast of", shown if option == "--markdown" else (self.at / "page.html").read_text())

    def test_the_same_calibration_gives_the_same_bytes(self):
        self.know(profile())
        self.assertEqual(self.radlc("plan", "--json", "site.radl"), self.radlc("plan", "--json", "site.radl"))

    def test_first_contact_is_an_honest_wide_band_and_the_command_that_narrows_it(self):
        text = self.radlc("plan", "site.radl")
        self.assertIn("not measured here", text)
        self.assertIn("radlc profile site.radl", text)
        (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl"))["forecasts"]
        train = forecast["phases"]["train"]
        self.assertEqual((train["source"], train["band_runs"], forecast["total"]["source"]), ("guessed", 0, "guessed"))
        self.assertGreater(train["high"] / train["low"], 4)
        self.assertIn("never measured", forecast["outside"])

    def test_what_the_engine_does_not_know_stays_unknown(self):
        (self.at / "site.radl").write_text(SITE.replace("dataset = 'cifar10'", "dataset = 'http://127.0.0.1:1/images.tar'"))
        (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl"))["forecasts"]
        self.assertIsNone(forecast["total"])
        self.assertNotEqual(forecast["unknown"], "")

    def test_larger_images_in_a_folder_of_the_same_name_were_not_measured(self):
        for folder, side in (("small", 8), ("large", 56)):
            photos(self.at / folder / "photos", side)
        (self.at / "site.radl").write_text(SITE.replace("dataset = 'cifar10'", "dataset = './small/photos'"))
        here = ("--input", "cloud=local", "--input", "worker_type=local")
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        (small,) = json.loads(self.radlc("plan", "--json", "site.radl", *here))["forecasts"]
        (self.at / "site.radl").write_text(SITE.replace("dataset = 'cifar10'", "dataset = './large/photos'"))
        (large,) = json.loads(self.radlc("plan", "--json", "site.radl", *here))["forecasts"]
        self.assertEqual(large["phases"]["train"]["source"], "guessed")
        self.assertIn("never measured", large["outside"])
        self.assertNotEqual(small["phases"]["train"]["source"], "guessed")

    def test_a_run_counts_at_once(self):
        here = self.train_here()
        self.addCleanup(self.run_it, "destroy", "site.radl", "--auto-approve")
        self.radlc("apply", "site.radl", "--auto-approve", *here)
        (run,) = json.loads(self.radlc("calibration", "export"))["runs"]
        self.assertEqual((run["family"], run["work"]), (FAMILY, work()))
        self.assertEqual(run["analytic_seconds"], 0, "nothing of this work was measured before")
        self.radlc("destroy", "site.radl", "--auto-approve")
        (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl", *here))["forecasts"]
        train = forecast["phases"]["train"]
        self.assertEqual((train["source"], train["from"]), ("measured", "1 run of it"))
        self.assertAlmostEqual(train["seconds"], run["seconds"], places=6)
        self.assertEqual(forecast["outside"], "")

    def types_of(self, *arguments):
        """Type and alternatives of each machine of the plan."""
        actions = json.loads(self.radlc("plan", "--json", "site.radl", *arguments))["actions"]
        return {action["id"]: [offer["name"] for offer in action["offers"]] for action in actions if action["id"].startswith(("ps[", "worker["))}

    def test_a_training_is_planned_on_types_that_compute_at_full_speed(self):
        burstable = ("t2.", "t3.", "t3a.", "t4g.")
        text = SITE.replace("'c5.*'", "'*'").replace("cpu.count >= 4", "cpu.count >= 2")
        (self.at / "site.radl").write_text(text)
        for node, offers in self.types_of().items():
            self.assertFalse(offers[0].startswith(burstable), (node, offers))
            self.assertTrue(any(name.startswith(burstable) for name in offers), "a machine that an earlier plan took may stay")
        self.assertNotIn("CPU credits", self.radlc("plan", "site.radl"))
        (self.at / "site.radl").write_text(text.split("use 'std")[0])
        for node, offers in self.types_of().items():
            self.assertTrue(offers[0].startswith(burstable), (node, offers))

    def test_a_plan_names_the_credits_and_the_idle_gpus_of_a_type_that_a_training_is_given(self):
        self.assertIn("CPU credits", self.radlc("plan", "site.radl", "--input", "worker_type=t3.xlarge"))
        notes = json.loads(self.radlc("plan", "--json", "site.radl", "--input", "worker_type=g4dn.xlarge"))["notes"]
        self.assertEqual(len([note for note in notes if "system 'worker' trains on g4dn.xlarge" in note and "GPUs that the training does not use" in note]), 1, notes)
        self.assertFalse([note for note in json.loads(self.radlc("plan", "--json", "site.radl"))["notes"] if "trains on" in note])

    def test_a_program_that_was_edited_takes_as_long_as_nobody_knows(self):
        def program(seconds, more=""):
            (self.at / "work.radl").write_text("radl 2\nnetwork lan ()\nsystem box (net_interface.0.connection = 'lan')\ndeploy box 1 'local'\nconfigure nap (\n"
                                               f"  program 'nap' (systems = system.box, main = 'sh', arguments = ['-c', 'sleep {seconds}']{more})\n)\n")

        def predicted():
            actions = json.loads(self.radlc("plan", "--json", "work.radl"))["actions"]
            (nap,) = [action for action in actions if action["id"].startswith("program/")]
            return nap["seconds"]

        program(1)
        self.addCleanup(self.run_it, "destroy", "work.radl", "--auto-approve")
        self.assertIsNone(predicted())
        self.radlc("apply", "work.radl", "--auto-approve")
        self.radlc("destroy", "work.radl", "--auto-approve")
        self.assertGreaterEqual(predicted(), 1)
        program(60)
        self.assertIsNone(predicted())
        program(1, ", environment = { DEEPER = 'yes' }")
        self.assertIsNone(predicted())

    def test_a_file_without_training_has_none(self):
        (self.at / "plain.radl").write_text("network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n")
        self.assertNotIn("Forecast", self.radlc("plan", "plain.radl"))


def command_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def descendants(process):
    found = []
    for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                found += [int(child), *descendants(int(child))]
        except OSError:
            pass
    return found


class Profile(ForesightCase):
    def test_a_short_run_is_measured_and_the_next_plan_knows_it(self):
        text = self.radlc("profile", "site.radl", "--input", "cloud=local", "--seconds", "1")
        self.assertIn("images/s", text)
        (kept,) = json.loads(self.radlc("calibration", "export"))["profiles"]
        self.assertEqual((kept["family"], kept["machine"], len(kept["node"]["steps"])), (FAMILY, "local", 3))
        self.assertEqual((kept["work"], kept["batch"]), (work(), 128))
        self.assertEqual(kept["node"]["parameter_bytes"], 4 * (3072 * 10 + 10))
        self.assertTrue(0 < kept["node"]["backward_share"] < 1)
        self.assertIn("disk", text)
        self.assertGreater(kept["rates"]["disk_write_bytes_per_second"], 0)
        self.assertGreater(kept["rates"]["disk_read_bytes_per_second"], 0)
        self.assertEqual(kept["rates"]["source_bytes_per_second"], 0, "cifar10 has several sources")
        (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl", "--input", "cloud=local", "--input", "worker_type=local"))["forecasts"]
        self.assertIn(forecast["phases"]["train"]["source"], ("measured", "scaled"))

    def test_how_fast_a_dataset_comes_is_measured_where_it_lies(self):
        (self.at / "images.tar").write_bytes(bytes(3000000))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.at))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}/images.tar"
        (self.at / "site.radl").write_text(SITE.replace("dataset = 'cifar10'", f"dataset = '{place}'"))
        said = self.radlc("profile", "site.radl", "--input", "cloud=local", "--seconds", "1", "--image-shape", "8x8x3")
        self.assertIn("the dataset comes by", said)
        (kept,) = json.loads(self.radlc("calibration", "export"))["profiles"]
        self.assertGreater(kept["rates"]["source_bytes_per_second"], 0)
        self.assertEqual(kept["rates"]["dataset_bytes"], 3000000)

    def test_a_dataset_that_does_not_come_is_a_note_and_the_steps_are_kept(self):
        text = SITE.replace("dataset = 'cifar10'", "dataset = 'http://127.0.0.1:1/images.tar'")
        (self.at / "site.radl").write_text(text)
        done = self.run_it("profile", "site.radl", "--input", "cloud=local", "--seconds", "1", "--image-shape", "8x8x3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("note: how fast the dataset comes is unknown", done.stderr)
        (kept,) = json.loads(self.radlc("calibration", "export"))["profiles"]
        self.assertEqual(len(kept["node"]["steps"]), 3)

    def start(self):
        """A long profile, and the engine's process that it has started."""
        run = subprocess.Popen([RADLC, "profile", "site.radl", "--input", "cloud=local", "--seconds", "3000"], cwd=self.at, env=self.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not (engines := [one for one in descendants(run.pid) if "bench" in command_of(one)]):
            self.assertIsNone(run.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        return run, engines

    def test_a_busy_machine_is_recognised_and_widens_the_band(self):
        """The engine's own measurement, with what the kernel would count on a busy machine."""
        engine = self.at / "engine"
        engine.write_text(f"""#!{sys.executable}
import json, subprocess, sys
ran = subprocess.run([{ENGINE!r}, *sys.argv[1:]], capture_output=True, text=True)
sys.stderr.write(ran.stderr)
if sys.argv[1] == "bench":
    said = json.loads(ran.stdout)
    assert 0 <= said["waited_share"] <= 1 and 0 <= said["stolen_share"] <= 1 and said["slow_seconds"] >= said["median_seconds"]
    said.update({{"slow_seconds": 1.05 * said["median_seconds"], "stolen_share": 0, "waited_share": float(open({str(self.at / 'share')!r}).read())}})
    ran.stdout = json.dumps(said)
sys.stdout.write(ran.stdout)
sys.exit(ran.returncode)
""")
        engine.chmod(0o755)
        self.environment["RADL_TRAIN"] = str(engine)
        here = ("--input", "cloud=local", "--input", "worker_type=local")
        bands = {}
        for share in ("0.5", "0"):
            (self.at / "share").write_text(share)
            said = self.radlc("profile", "site.radl", "--seconds", "1", *here)
            (kept,) = json.loads(self.radlc("calibration", "export"))["profiles"]
            (forecast,) = json.loads(self.radlc("plan", "--json", "site.radl", *here))["forecasts"]
            train = forecast["phases"]["train"]
            bands[share] = train["high"] / train["seconds"]
            self.assertEqual("busy" in said, share != "0")
            self.assertAlmostEqual(kept["busy_ratio"], 2 if share != "0" else 0, places=6)
        self.assertGreaterEqual(bands["0.5"], 2)
        self.assertLess(bands["0"], bands["0.5"])

    def test_an_interrupted_profile_leaves_no_engine_running(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
            with self.subTest(signal=number):
                run, engines = self.start()
                run.send_signal(number)
                self.assertEqual(run.wait(60), code)
                deadline = time.monotonic() + 60
                while any("bench" in command_of(one) for one in engines):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
        self.assertFalse((self.at / "data/radlc/foresight.db").exists())

    def test_a_batch_that_does_not_fit_into_memory_is_refused_before_it_starts(self):
        (self.at / "site.radl").write_text(SITE.replace("'logistic'", "'vit-tiny'"))
        for arguments in (("--batch", "60000"), ("--image-shape", "512x512x3")):
            with self.subTest(arguments=arguments):
                done = self.run_it("profile", "site.radl", "--input", "cloud=local", "--seconds", "1", *arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("MiB are free", done.stderr)

    def test_a_model_that_no_dataset_can_feed_is_refused_in_the_plan(self):
        text = "words: embedding 8 vocabulary=300\\nglobalavgpool\\nfc: linear classes\\n"
        (self.at / "site.radl").write_text(SITE.replace("'logistic'", f'"{text}"').replace("default = 'ec2'", "default = 'local'"))
        done = self.run_it("plan", "site.radl")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("line 1: layer words: embedding", done.stderr)
        done = self.run_it("profile", "site.radl", "--seconds", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("layer words: embedding", done.stderr)
        self.assertFalse((self.at / "data/radlc/foresight.db").exists())
        (self.at / "site.radl").write_text((self.at / "site.radl").read_text().replace("embedding 8 vocabulary=300", "linear 8"))
        done = self.run_it("plan", "site.radl")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_model_that_is_none_says_so(self):
        (self.at / "site.radl").write_text(SITE.replace("'logistic'", "'no such model'"))
        done = self.run_it("profile", "site.radl", "--seconds", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.at / "data/radlc/foresight.db").exists())


if __name__ == "__main__":
    unittest.main()

"""The page of `radlc serve` in a browser: from nothing to a model, on nodes of this computer."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tarfile
import unittest

import browser
import torch_stand_in
from engine_case import test_image
from farm_case import SEARCH, TRIAL
from page_case import BUILD, PAGE, PageCase

# `make screenshots` sets it: the pictures of the documentation are made by these tests.
PICTURES = os.environ.get("RADL_SCREENSHOTS")

# Stands for torchrun, which would need a gigabyte of packages: runs the program once.
SCRIPT = """import os, pathlib
for loss in (1.0, 0.5, 0.25):
    print(f"epoch done, loss={loss}, constructor=1", flush=True)
pathlib.Path(os.environ["RADL_RESULTS"], "model.pt").write_text("trained")
"""
PROGRAM = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
use 'std/training/all_reduce' as training (
  workers = system.worker
  model = 'logistic', dataset = 'cifar10', source = 'subset', epochs = EPOCHS, result = 'result'
)
"""

DRIFTS = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
configure greet ( file '~/greeting' ( content = 'hello' ) )
deploy worker 1
contextualize ( system worker configure greet )
"""


@unittest.skipUnless(browser.PROGRAM, "there is no Chromium")
@unittest.skipUnless((PAGE / "index.html").exists(), "the page was not built: npm brought no packages")
class Page(PageCase):
    def setUp(self):
        super().setUp()
        self.windows = []
        self.window = self.open_window("browser", self.link)

    def tearDown(self):
        for window in self.windows:
            window.close()
        super().tearDown()

    def open_window(self, name, link):
        window = browser.Browser(self.folder / name, self.environment)
        self.windows.append(window)
        window.open(link)
        window.wait("document.querySelector('#main h1')")
        return window

    def picture(self, name):
        if PICTURES:
            self.window.screenshot(pathlib.Path(PICTURES) / f"{name}.png")

    def go(self, path):
        self.window.js(f"history.pushState(null, '', '/ui/{path}'); dispatchEvent(new Event('popstate'))")

    def start_training(self, model, epochs):
        """From the first step to the address of the run."""
        w = self.window
        w.click("nav[aria-label=Parts] a")
        w.fill("select[name=model]", model)
        w.fill("input[type=number]", epochs)
        w.fill("input[name=name]", "shown")
        w.click("#next")
        w.click("input[value=cifar10-subset]")
        w.click("#next")
        w.wait("document.querySelector('select[name=cloud]').value === 'local'")
        w.click("#next")
        w.wait("document.querySelector('#start')")
        self.assertNotRegex(w.js("document.querySelector('#main').innerText"), "NaN|undefined|null")
        self.picture("review")
        w.click("#start")
        w.click("#confirm")
        return w.wait("location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3]")

    def destroy(self, infrastructure):
        w = self.window
        self.go(f"infrastructures/{infrastructure}")
        w.click("#destroy")
        w.wait("document.querySelector('#act') && document.querySelector('#act').disabled")  # until the name is typed
        w.fill("input[name=confirm]", "shown")
        w.click("#act")
        run = w.wait("location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3]")
        self.assertEqual(self.end_of(run)["state"], "done")
        self.go(f"infrastructures/{infrastructure}/receipt")
        w.wait("document.querySelector('#nothing-left')")
        self.picture("receipt")

    def test_from_nothing_to_a_downloaded_model(self):
        w = self.window
        run = self.start_training("logistic", 2)
        w.wait("document.querySelector('#download')")
        infrastructure = self.get(f"/runs/{run}")["infrastructure"]
        self.assertEqual(len(w.js("[...document.querySelectorAll('figure.plot')].map((f) => f.innerText)")), 3)
        w.click("button[aria-label='Loss: table']")
        steps = len(self.metrics(run, "step"))
        w.wait(f"document.querySelectorAll('.ht tbody tr').length === {steps} && !document.querySelector('.ht').closest('figure').querySelector('svg')")
        w.click("button[aria-label='Loss: table']")
        w.wait("document.querySelectorAll('figure.plot svg.chart').length === 3")
        w.click("#download")
        model = self.folder / "browser/downloads/model.safetensors"
        self.wait_until(model.exists)
        self.assertEqual(model.read_bytes(), self.ask("GET", f"/infrastructures/{infrastructure}/results/model/model.safetensors")[1])
        picture = self.folder / "picture.png"
        picture.write_bytes(test_image(0)[1])
        w.choose_file("input[name=picture]", picture)
        w.wait("document.querySelectorAll('#guess tbody tr').length === 5")
        self.picture("run")
        # The same address shows the same run.
        w.call("Page.reload")
        w.wait("document.querySelector('#download')")
        self.go("infrastructures")
        w.wait("document.querySelector('tbody a').innerText === 'shown'")
        w.click("tbody a")
        w.wait("document.querySelector('svg.chart')")
        self.assertEqual(self.on_the_node("echo", "hello"), "hello\n")
        self.destroy(infrastructure)
        self.assertEqual(w.problems, [])

    def test_a_stopped_training_resumes_from_its_checkpoint(self):
        w = self.window
        run = self.start_training("lenet", 300)
        self.wait_until(lambda: self.metrics(run, "evaluated"), 120)
        w.click("#stop")
        w.click("#confirm-stop")
        w.wait("document.querySelector('#resume')")
        self.assertEqual(self.get(f"/runs/{run}")["state"], "stopped")
        reached = self.metrics(run, "checkpoint")[-1]["step"]
        w.click("#resume")
        again = w.wait(f"location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3] !== '{run}' && location.pathname.split('/')[3]")
        self.wait_until(lambda: self.metrics(again, "step"), 120)
        self.assertGreater(self.metrics(again, "step")[0]["step"], reached)
        self.assertEqual(w.problems, [])

    def test_a_run_continues_after_the_service_was_killed(self):
        w = self.window
        run = self.start_training("lenet", 300)
        self.wait_until(lambda: self.metrics(run, "step"), 120)
        self.stop_server(signal.SIGKILL)
        self.serve(self.port)
        seen = len(self.metrics(run, "step"))
        self.wait_until(lambda: len(self.metrics(run, "step")) > seen, 120, lambda: str(self.get(f"/runs/{run}")))
        self.assertTrue(self.get(f"/runs/{run}")["recovered"])
        # The page was not reloaded: it resumes after the last event that it had.
        shown = "Number(document.querySelector('#log').innerText.split('\\n').length)"
        lines = w.js(shown)
        w.wait(f"{shown} > {lines}")
        w.wait("document.body.innerText.includes('The service was restarted during this run')")

    def on_the_node(self, *command):
        """Output of a command on a node, by the login that the page of the infrastructure shows."""
        shown = self.window.wait("[...document.querySelectorAll('pre')].find((p) => p.innerText.startsWith('radlc ssh')).innerText")
        words = shlex.split(shown.replace("~/.local/share/radlc/serve", str(self.folder / "service")))
        return self.radlc(*words[1:], "--", *command)

    def test_a_plan_shows_drift_and_repairs_it(self):
        w = self.window
        one = self.create("drifts")
        self.run_plan(infrastructure=one, program=DRIFTS)
        self.go(f"infrastructures/{one}")
        self.on_the_node("echo edited > greeting")
        w.click("#plan")
        w.wait("document.querySelector('#drift') && document.querySelector('#drift').innerText.includes('worker[0]/greet')")
        self.assertIn("edited", w.js("document.querySelector('#drift').innerText"))
        w.click("#act")
        run = w.wait("location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3]")
        self.assertEqual(self.end_of(run)["state"], "done")
        self.go(f"infrastructures/{one}")
        self.assertEqual(self.on_the_node("cat greeting").strip(), "hello")
        self.assertEqual(w.problems, [])

    def test_concurrent_users_see_only_their_own_resources(self):
        link = self.issue("ana", "apply", "--open").split()[-1]
        other = self.open_window("ana", link)
        other.wait("document.querySelector('.foot span') && document.querySelector('.foot span').innerText.startsWith('ana')")
        mine = self.start_training("logistic", 40)
        first, self.window = self.window, other
        its = self.start_training("logistic", 1)
        self.window = first
        other.wait("document.querySelector('#download')")
        self.window.wait("document.querySelector('#against') && document.querySelectorAll('figure.plot svg.chart').length === 3")
        # The owner of the service is its administrator.
        for window, runs in ((first, {mine, its}), (other, {its})):
            window.js("history.pushState(null, '', '/ui/runs'); dispatchEvent(new Event('popstate'))")
            window.wait("document.querySelector('tbody a')")
            self.assertEqual(set(window.js("[...document.querySelectorAll('tbody a')].map((a) => a.pathname)")), {f"/ui/runs/{run}" for run in runs})
        self.assertEqual(other.js(f"fetch('/api/v1/runs/{mine}').then((r) => r.status)"), 404)
        self.ask("POST", f"/runs/{mine}/stop")
        self.assertEqual(first.problems, [])

    def test_a_program_of_ones_own(self):
        w = self.window
        w.click("input[value=script]")
        w.choose_file("input[name=script]", self.write("train.py", SCRIPT))
        w.wait("JSON.parse(sessionStorage.getItem('radlc-train')).script === 'train.py'")
        draft = w.js("JSON.parse(sessionStorage.getItem('radlc-train')).draft")
        for path, text in torch_stand_in.FILES.items():
            self.upload(draft, path, text)
        self.go("train/4")
        w.click("#start")
        w.click("#confirm")
        run = w.wait("location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3]")
        w.wait("document.querySelector('#results') && [...document.querySelectorAll('figure.plot b')].some((b) => b.innerText === 'loss')")
        self.assertEqual(self.end_of(run)["state"], "done")
        w.click("button[aria-label='loss: table']")
        self.assertEqual(w.js("[...document.querySelectorAll('.ht tbody tr')].map((r) => r.cells[2].innerText)"), ["0.25", "0.5", "1"])
        self.assertIn("model.pt", w.js("document.querySelector('#results').innerText"))
        self.assertEqual(w.problems, [])

    def test_runs_are_compared_under_an_address(self):
        w = self.window
        one = self.create("pair")
        runs = [self.run_plan(infrastructure=one, program=PROGRAM.replace("EPOCHS", epochs)) for epochs in ("1", "3")]
        self.go("runs")
        for run in runs:
            w.click(f"input[aria-label$='{run['id']}']")
        w.click("#compare")
        w.wait("document.querySelector('#differ')")
        self.assertEqual(w.js("[...document.querySelectorAll('#differ tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))"), [["epochs", "1", "3"]])
        address = w.js("location.pathname")
        self.assertEqual(sorted(address.split("/")[3:]), sorted(run["id"] for run in runs))
        self.assertEqual(w.js("document.querySelectorAll('polyline title').length >= 8"), True)  # a line of each run in each plot
        w.call("Page.reload")
        w.wait("document.querySelector('#differ')")
        self.picture("compare")
        self.go("measurements")
        w.wait("document.querySelector('#measured p').innerText.includes(' training run')")
        self.go("jobs")
        w.wait("document.querySelector('#jobs tbody a').innerText === 'pair'")
        self.assertEqual(w.problems, [])

    def test_a_search_and_its_best_model(self):
        w = self.window
        one = self.create("hpo")
        self.upload(one, "trial.sh", TRIAL)
        self.run_plan(infrastructure=one, program=SEARCH)
        self.go("farms")
        w.click("tbody a")
        w.wait("document.querySelectorAll('#tasks tbody tr').length === 6 && document.querySelector('rect.task') && document.querySelector('#outputs a')")
        column = "[...document.querySelectorAll('#tasks tbody tr')].map((r) => Number(r.querySelector('td[data-l=%s]').innerText))"
        losses = w.js(column % "loss")
        self.assertEqual(losses, sorted(losses))  # the best first
        self.assertEqual(w.js("[...document.querySelectorAll('figure.plot b')].map((b) => b.innerText)"), ["Parallel coordinates", "loss", "Packing over time"])
        self.assertEqual(w.js("document.querySelectorAll('figure.plot')[0].querySelectorAll('polyline').length"), 6)
        self.picture("farm")
        for title in ("Parallel coordinates", "loss", "Packing over time"):
            w.click(f"button[aria-label='{title}: table']")
        w.wait("document.querySelectorAll('.ht').length === 3")
        w.js("[...document.querySelectorAll('#tasks button.sort')].find((b) => b.innerText === 'x').click()")
        w.wait("location.search === '?order=parameters.x'")
        w.wait(f"(() => {{ const v = {column % 'x'}; return v.every((n, i) => i === 0 || v[i - 1] <= n) && {column % 'loss'}.join() !== '{','.join(map(str, losses))}'; }})()")
        w.click("#outputs a")
        model = self.folder / "browser/downloads/weights"
        self.wait_until(model.exists)
        best = self.get(f"/infrastructures/{one}/farms/hpo")["best"]
        self.assertEqual(float(model.read_text()), best["parameters"]["x"])
        w.click("#add")
        w.fill("input[name=trials]", 2)
        w.click("#add-now")
        w.wait("document.querySelector('#said').innerText === 'Added: 2 trials.'")
        w.click(f"input[aria-label='Choose {best['task']}']")
        w.click("#retry")  # it is refused, since the trial has finished
        w.wait("document.querySelector('.note.bad') && document.querySelector('.note.bad').innerText.includes('it cannot be retried')")
        w.click(f"#tasks a[href$='{best['task']}']")
        w.wait("document.querySelector('#log') && document.querySelector('#log').innerText.includes('loss')")
        self.assertEqual([p for p in w.problems if "/retry" not in p], [])

    def test_it_is_usable_on_a_phone_and_by_keyboard(self):
        w = self.window
        run, farm = self.two_of_each()
        w.size(360, 740)
        for path in ("train/1", "train/2", "train/3", "runs", f"runs/{run}", f"compare/{run}/{run}", "jobs", "farms", f"farms/{farm}", "infrastructures",
                     "infrastructures/" + run.split("-")[0], "infrastructures/new", "rehearse", "costs", "measurements"):
            for dark in (False, True):
                w.dark(dark)
                self.go(path)
                w.wait("document.querySelector('#main h1') && !document.querySelector('[aria-busy=true]')")
                self.assertLessEqual(w.js("document.documentElement.scrollWidth"), 360, path)
        w.size(1280, 900)
        self.go("train/1")
        # The first stop of the keyboard is the link past the navigation; Enter follows a link.
        w.open(self.host + "/ui/train/1")
        w.wait("document.querySelector('#next')")
        w.key("Tab", 9)
        w.wait("document.activeElement.className === 'skip'")
        w.js("document.querySelector('#next').focus()")
        w.key("Enter", 13, "\r")
        w.wait("location.pathname === '/ui/train/2'")
        self.assertEqual(w.problems, [])


    def test_a_cluster_is_recommended_with_its_bands(self):
        w = self.window
        self.go("train/3")
        w.fill("select[name=cloud]", "ec2")
        w.fill("input[name=zone]", "eu-west-1")
        w.fill("input[name=deadline]", "3h")
        w.fill("select[name=objective]", "cost")
        w.js("[...document.querySelectorAll('button')].find((b) => b.innerText === 'Recommend').click()")
        w.wait("document.querySelectorAll('#candidates tbody tr').length === 12")
        program = self.write("program.radl", w.js("[...document.querySelectorAll('#program .line')].map((l) => l.innerText).join('\\n')").replace("instance_type = ''", "instance_type = 'm5.xlarge'"))
        told = json.loads(self.radlc("recommend", program, "--json", "--deadline", "3h", "--objective", "cost"))
        first = told["chosen"]
        self.assertEqual(w.js("document.querySelector('#candidates tr.sel button').ariaLabel"), f"Choose {first}")
        self.assertTrue(w.js("document.querySelector('#measured p').innerText"))
        w.click("#candidates tr.sel button")
        workers = next(one["workers"] for one in told["candidates"] if one["name"] == first)
        w.wait(f"document.querySelector('#program').innerText.includes('deploy worker {workers} ec2')")
        w.js(axe_core())
        self.assertEqual(w.js("axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id))"), [])
        w.size(360, 740)
        self.assertLessEqual(w.js("document.documentElement.scrollWidth"), 360)
        self.assertEqual(w.problems, [])

    def test_radlc_accepts_each_program_that_it_writes(self):
        choices = [{}, {"servers": 1, "workers": 2}, {"data": "cifar10-subset"}, {"data": "place", "place": "s3://bucket/images"},
                   {"cloud": "ec2", "type": "m5.xlarge", "spot": True, "zone": "eu-west-1a"}, {"cloud": "gce", "type": "n2-standard-4", "servers": 1},
                   {"source": "script", "code": "archive", "archive": "code.zip", "main": "top/train.py", "cloud": "azure", "type": "Standard_D4s_v5"},
                   {"source": "script", "code": "git", "git": "https://example.org/a/b.git", "commit": "0" * 40, "main": "-m b.train",
                    "weights": "https://example.org/a/model.safetensors", "sha": "0" * 64},
                   {"source": "script", "script": "train.py", "args": "--word it's --epochs 3", "requirements": "lock.txt", "python": "/usr/bin/python3"}]
        written = self.window.js(f"import('/ui/static/program.js').then((p) => {json.dumps(choices)}.map((c) => [p.missing({{...p.FRESH, ...c}}), p.write({{...p.FRESH, ...c}})]))")
        self.write("files/train.py", "print(1)\n")
        self.write("files/lock.txt", "")
        self.write("files/weights.sha256", "0" * 64 + "  model.safetensors\n")
        shutil.make_archive(str(self.folder / "files/code"), "zip", self.folder, "files/train.py")
        for choice, (missing, program) in zip(choices, written, strict=True):
            self.assertEqual(missing, "", choice)
            self.radlc("check", self.write("program.radl", program))

    def test_webhooks_are_added_shown_and_deleted(self):
        w = self.window
        self.go("webhooks")
        w.wait("document.querySelector('#add-webhook')")
        w.fill("input[name=url]", "http://127.0.0.1:9/hook")
        w.click("input[name='run.queued']")
        w.click("#add-webhook")
        secret = w.wait("document.querySelector('#secret code') && document.querySelector('#secret code').innerText")
        self.assertTrue(secret.startswith("whsec_"))
        (hook,) = self.get("/webhooks")["webhooks"]
        self.assertEqual((hook["url"], hook["events"]), ("http://127.0.0.1:9/hook", ["run.queued", "run.finished"]))
        w.wait("document.querySelector('#webhooks').innerText.includes('127.0.0.1:9/hook')")
        self.assertNotIn(secret, w.js("document.querySelector('#webhooks').innerText"))
        self.run_plan(infrastructure=self.create(), program="radl 2\noutput a (value = 1)\n")
        w.wait("document.querySelector('#webhooks details')")
        w.click("#webhooks summary")
        w.wait("document.querySelector('#webhooks details').innerText.includes('attempt 1')")
        w.js(axe_core())
        self.assertEqual(w.js("axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id))"), [])
        w.size(360, 740)
        self.assertLessEqual(w.js("document.documentElement.scrollWidth"), 360)
        w.click("#webhooks button.danger")
        w.click("#confirm-delete")
        w.wait("!document.querySelector('#webhooks')")
        self.assertEqual(self.get("/webhooks")["webhooks"], [])
        self.assertEqual(w.problems, [])

    def test_images_are_looked_at_and_the_file_is_edited(self):
        w = self.window
        for name in ("cat", "dog"):
            (self.folder / "images" / name).mkdir(parents=True)
            for number in range(4):
                (self.folder / "images" / name / f"{number}.png").write_bytes(test_image(number)[1])
        archive = shutil.make_archive(str(self.folder / "pictures"), "zip", self.folder / "images")
        self.go("train/2")
        w.click("input[value=upload]")
        w.choose_file("input[name=archive]", archive)
        w.click("#look-now")
        w.wait("document.querySelectorAll('#look img').length === 8")
        text = w.js("document.querySelector('#look').innerText")
        self.assertIn("None of 8 is corrupt", text)
        self.assertEqual(w.js("[...document.querySelectorAll('#look img')].every((i) => i.complete && i.naturalWidth > 0)"), True)
        self.assertEqual(w.js("[...new Set([...document.querySelectorAll('#look figcaption')].map((f) => f.innerText))].join()"), "cat,dog")
        w.click("#edit")
        w.fill("textarea[name=own]", "radl 2\noutput told (value = 'my own')\n")
        self.go("train/4")
        w.wait("document.querySelector('#start')")
        w.click("#start")
        w.click("#confirm")
        run = w.wait("location.pathname.startsWith('/ui/runs/') && location.pathname.split('/')[3]")
        self.assertEqual(self.end_of(run)["state"], "done")
        self.assertIn("my own", self.ask("GET", f"/infrastructures/{run.split('-')[0]}/program")[1].decode())
        self.assertEqual(w.problems, [])

    def two_of_each(self):
        """A run of a training, and the address of a farm."""
        training, search = self.create("shown"), self.create("hpo")
        self.upload(search, "trial.sh", TRIAL)
        runs = [self.start_plan(infrastructure=training, program=PROGRAM.replace("EPOCHS", "1")), self.start_plan(infrastructure=search, program=SEARCH)]
        for run in runs:
            self.assertEqual(self.end_of(run)["state"], "done")
        return runs[0], f"{search}/hpo"

    def test_axe_finds_nothing_serious(self):
        w = self.window
        run, farm = self.two_of_each()
        one = self.get(f"/runs/{run}")["infrastructure"]
        w.js(axe_core())
        dark = False
        for path in ("train/1", "train/2", "train/3", "runs", f"runs/{run}", f"runs/{run}", "infrastructures", f"infrastructures/{one}", "infrastructures/new", f"rehearse/{one}", "costs", "farms",
                     f"farms/{farm}", f"farms/{farm}", f"farms/{farm}/trial-0", f"compare/{run}/{run}", f"compare/{run}/{run}", "jobs", "measurements"):
            dark = not dark  # each second page: a check takes a second
            w.dark(dark)
            self.go(path)
            w.wait("document.querySelector('#main h1') && !document.querySelector('[aria-busy=true]')")
            found = w.js("axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes[0].html))")
            self.assertEqual(found, [], f"{path}, {'dark' if dark else 'light'}")


AXE = ("axe-core-4.14.1", "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745")


def axe_core():
    """The accessibility checker, from npm; kept beside the page's packages."""
    archive = BUILD / "page" / f"{AXE[0]}.tgz"
    if not archive.exists() and shutil.which("npm"):
        subprocess.run(["npm", "pack", "--silent", "--fetch-retries=1", "axe-core@" + AXE[0].rpartition("-")[2]], cwd=archive.parent,
                       capture_output=True, timeout=120, check=False)
    if not archive.exists():
        raise unittest.SkipTest("npm brings no axe-core")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != AXE[1]:
        raise AssertionError(f"{archive} is another file")
    with tarfile.open(archive) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


class Weight(unittest.TestCase):
    def test_the_page_is_below_70_kilobytes(self):
        if not (PAGE / "index.html").exists():
            self.skipTest("the page was not built: npm brought no packages")
        files = [path for path in PAGE.iterdir() if path.suffix in (".js", ".mjs", ".css")]
        self.assertTrue(files)
        sent = sum(path.with_name(path.name + ".gz").stat().st_size for path in files) + (PAGE / "index.html").stat().st_size
        self.assertLess(sent, 70_000)
        self.assertEqual(sorted(path.name for path in PAGE.glob("LICENSE.*")), ["LICENSE.htm", "LICENSE.preact"])


if __name__ == "__main__":
    unittest.main()

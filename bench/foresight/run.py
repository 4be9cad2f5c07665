"""The model of runtime/foresight beside simple predictors, on the rows of a published study that can be recovered: each row, each question
(batch and latency), each batch left out in turn, and predicted from the rest. Called by bench/foresight/run.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: mean error in percent, and in regret lines how much longer the size takes
that the prediction would choose; `peers` has each predictor. Then how long ours takes.
"""
import json
import os
import pathlib
import platform
import subprocess
import warnings

import numpy
from scipy.optimize import least_squares, nnls
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.neighbors import KNeighborsRegressor

warnings.filterwarnings("ignore", category=ConvergenceWarning)
PROGRAM = str(pathlib.Path(os.environ["RADL_BUILD"]) / "bin/foresight_bench")
SEED = 7
GOALS = {"row": 5.7, "question": 7.1, "batch": 8.8}
MACHINE = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def ours(rows, seconds):
    """Asks the program; the whole of it, as it ships."""
    def ask(questions):
        text = "".join("%d %g %g %g\n" % (*row, s) for row, s in zip(rows, seconds)) + "\n" + "".join("%d %g %g\n" % tuple(q) for q in questions)
        done = subprocess.run([PROGRAM, "predict"], input=text, capture_output=True, text=True, check=True)
        return numpy.array([float(line.split()[0]) for line in done.stdout.splitlines()])
    return ask


def columns(rows):
    nodes, batch, latency = rows.T
    return numpy.stack([nodes, numpy.log(batch), numpy.log(batch / nodes), latency, latency * (nodes > 1), latency * (nodes - 1)], 1)


def learned(make, scaled=False):
    def fit(rows, seconds):
        z = columns(rows)
        mean, spread = (z.mean(0), z.std(0) + 1e-9) if scaled else (0, 1)
        logs = numpy.log(seconds)
        model = make().fit((z - mean) / spread, logs - logs.mean())
        return lambda q: numpy.exp(model.predict((columns(q) - mean) / spread) + logs.mean())
    return fit


def ernest(rows, seconds):
    def design(q):
        nodes, batch, latency = q.T
        one = numpy.ones(len(q))
        return numpy.stack([one, batch / nodes, numpy.log(nodes), nodes, batch, latency * (nodes > 1), latency * (nodes - 1)], 1)
    weights, _ = nnls(design(rows) / seconds[:, None], numpy.ones(len(seconds)))
    return lambda q: numpy.maximum(design(q) @ weights, 0.1)


def hinge(rows, seconds):
    """Seconds with two slopes over the share of a node, a power of the nodes, and a latency factor for each size; ten figures."""
    def formula(p, q):
        nodes, batch, latency = q[:, 0], q[:, 1] / 1e4, q[:, 2]
        messages = numpy.select([nodes == 2, nodes == 3, nodes >= 4], p[4:7], 0)
        share = batch / nodes ** p[8]
        return p[0] + p[1] * (nodes - 1) ** p[7] + p[2] * share + p[3] * numpy.maximum(share - p[9], 0) + messages * latency

    def loss(p):
        return numpy.log(numpy.maximum(formula(p, rows), 1e-3)) - numpy.log(seconds)
    fits = [least_squares(loss, numpy.array([3, 3, 150, 100, 0.4, 0.6, 4, 1, 0.8, 0.6]) * scale, bounds=(-numpy.inf, numpy.inf), loss="soft_l1",
                          f_scale=0.3, max_nfev=4000) for scale in (1, 0.3, 3)]
    best = min(fits, key=lambda fit: fit.cost)
    return lambda q: numpy.maximum(formula(best.x, q), 0.1)


def on_top(base, learner):
    def fit(rows, seconds):
        first = base(rows, seconds)
        rest = learner(rows, seconds / first(rows))
        return lambda q: first(q) * rest(q)
    return fit


def together(*fits):
    def fit(rows, seconds):
        models = [one(rows, seconds) for one in fits]
        return lambda q: numpy.exp(numpy.mean([numpy.log(model(q)) for model in models], 0))
    return fit


def process():
    kernel = ConstantKernel(1.0) * RBF(numpy.ones(6), (0.1, 100)) + WhiteKernel(0.01, (1e-4, 0.3))
    return GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=SEED)


FOREST = learned(lambda: RandomForestRegressor(300, random_state=SEED))
PEERS = {
    "random forest": FOREST,
    "extra trees": learned(lambda: ExtraTreesRegressor(300, random_state=SEED)),
    "boosting": learned(lambda: GradientBoostingRegressor(n_estimators=300, learning_rate=0.05, max_depth=3, random_state=SEED)),
    "nearest row": learned(lambda: KNeighborsRegressor(1), scaled=True),
    "Ernest": ernest,
    "hinge": hinge,
    "Gaussian process": learned(process, scaled=True),
    "hinge and forest": on_top(hinge, FOREST),
    "Gaussian process with hinge and forest": together(learned(process, scaled=True), on_top(hinge, FOREST)),
}


def groups(rows, left_out):
    keys = {"row": numpy.arange(len(rows)), "question": rows[:, 1] * 1000 + rows[:, 2], "batch": rows[:, 1]}[left_out]
    return [numpy.flatnonzero(keys == key) for key in numpy.unique(keys)]


def held_out(fit, rows, seconds, left_out):
    guess = numpy.zeros(len(seconds))
    for group in groups(rows, left_out):
        rest = numpy.setdiff1d(numpy.arange(len(seconds)), group)
        guess[group] = fit(rows[rest], seconds[rest])(rows[group])
    return guess


def regret(rows, seconds, guess):
    lost = [seconds[g][numpy.argmin(guess[g])] / seconds[g].min() - 1 for g in groups(rows, "question") if len(g) >= 3]
    return 100 * float(numpy.mean(lost))


def main():
    listed = subprocess.run([PROGRAM, "rows"], capture_output=True, text=True, check=True).stdout
    table = numpy.array([[float(word) for word in line.split()] for line in listed.splitlines()])
    rows, seconds = table[:, :3], table[:, 3]
    for left_out, goal in GOALS.items():
        errors, regrets = {}, {}
        for name, fit in {"ours": ours, **PEERS}.items():
            guess = held_out(fit, rows, seconds, left_out)
            errors[name] = 100 * float(numpy.abs(guess / seconds - 1).mean())
            regrets[name] = regret(rows, seconds, guess)
        for what, figures, limit in (("error", errors, goal), ("regret", regrets, 0.4)):
            mine = figures.pop("ours")
            best = min(figures.values())
            print(json.dumps({"name": f"{what}-one-{left_out}-never-seen", "ours": round(mine, 2), "peer": round(best, 2), "unit": "%",
                              "ratio": round(best / mine, 2) if mine else None, "goal": limit, "machine": MACHINE,
                              "peers": {name: round(value, 2) for name, value in figures.items()}}), flush=True)
    for line in subprocess.run([PROGRAM, "speed"], capture_output=True, text=True, check=True).stdout.splitlines():
        print(json.dumps({**json.loads(line), "machine": MACHINE}), flush=True)


main()

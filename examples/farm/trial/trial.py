"""Fits a line by gradient descent with momentum, and reports its loss after each epoch."""
import json
import os
import random
import sys

rate, momentum = float(sys.argv[1]), float(sys.argv[2])
source = random.Random(7)
points = [(x, 3 * x - 1 + source.gauss(0, 0.1)) for x in (source.uniform(-1, 1) for _ in range(500))]

weight = bias = step_weight = step_bias = 0.0
for epoch in range(1, 28):
    error = [(weight * x + bias - y, x) for x, y in points]
    step_weight = momentum * step_weight - rate * sum(e * x for e, x in error) / len(points)
    step_bias = momentum * step_bias - rate * sum(e for e, _ in error) / len(points)
    weight, bias = weight + step_weight, bias + step_bias
    print(json.dumps({"epoch": epoch, "loss": sum(e * e for e, _ in error) / len(points)}), flush=True)

with open(os.path.join(os.environ["RADL_RESULTS"], "model.json"), "w") as file:
    json.dump({"weight": weight, "bias": bias}, file)

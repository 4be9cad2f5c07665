"""What both peers of the engine's bench share: the layers of a model text, and the timed steps."""
import json
import resource
import time

UNTIMED = 3  # steps whose losses are compared with ours


def pair(text):
    parts = [int(p) for p in text.split("x")]
    return (parts * 2)[:2]


def layers_of(text):
    """(name, kind, options, inputs) of each layer of a canonical model text (docs/models.md)."""
    previous = "input"
    for line in text.splitlines():
        words = line.split()
        if len(words) < 2 or not words[0].endswith(":"):
            continue
        name, kind, rest = words[0][:-1], words[1], words[2:]
        inputs = [previous]
        if "from" in rest:
            inputs = rest[rest.index("from") + 1:]
            rest = rest[:rest.index("from")]
        if kind in ("add", "concat"):
            inputs = [w for w in rest if "=" not in w] or inputs
        yield name, kind, dict(w.split("=", 1) for w in rest if "=" in w), inputs
        previous = name


def measure(steps, step):
    """Calls `step`, which returns its loss when it is done, and prints one JSON line: the losses of the first steps, the
    seconds (on the wall and of the processor) of the others, and the peak of resident memory."""
    losses, seconds, processor = [], [], []
    for i in range(steps + UNTIMED):
        begin, working = time.perf_counter(), time.process_time()
        loss = step()
        if i < UNTIMED:
            losses.append(float(loss))
            continue
        seconds.append(time.perf_counter() - begin)
        processor.append(time.process_time() - working)
    print(json.dumps({"losses": losses, "seconds": seconds, "processor_seconds": processor,
                      "peak_rss_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))

"""EC3's own composition, called in one process: for each set of templates, what `ec3 launch` would send to the Infrastructure Manager.

Reads lines of JSON from standard input, {"folder": where the templates are, "templates": ["slurm", "ubuntu-ec2"]}, and answers each with a
line: {"aspects": [...]}, the RADL-JSON of what EC3 would send, as the Infrastructure Manager's own parser reads it, with recipes loaded; or
{"refused": why}. EC3_SOURCE is a checkout of grycap/ec3. Its code runs as it is, apart from three things that compose nothing: `requests` is
left out, templates are parsed once, and sets keep their order.
"""
import contextlib
import copy
import importlib.util
import io
import json
import logging
import os
import sys
import types

from plain_values import plain


def load_ec3(source):
    requests = types.ModuleType("requests")
    requests.packages = types.SimpleNamespace(urllib3=types.SimpleNamespace(disable_warnings=lambda *_: None))
    sys.modules.setdefault("requests", requests)
    sys.path.insert(0, source)
    spec = importlib.util.spec_from_file_location("ec3", os.path.join(source, "ec3.py"))
    ec3 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ec3)
    ec3.CLI.options = types.SimpleNamespace(quiet=True)
    ec3.CLI.logger = logging.getLogger("ec3")
    return ec3


class Recorder(logging.Handler):
    """What EC3 says before it exits."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        if record.getMessage():
            self.said.append(record.getMessage())


def one_parser(ec3):
    """EC3 makes its parser for each file anew, and reads a template for each cluster anew; once is enough here."""
    import IM2.radl.radl_parse as radl_parse
    parser = radl_parse.RADLParser()
    known = {}

    def parse(text):
        if text not in known:
            known[text] = parser.parse(text)
        return copy.deepcopy(known[text])

    ec3.parse_radl = parse


class OrderedSet(set):
    """EC3 keeps values of `contains` in Python's sets, whose order differs from run to run: here it is that of the templates."""

    def __init__(self, values=()):
        super().__init__()
        self.values = []
        for value in values:
            self.add(value)

    def add(self, value):
        if value not in self:
            super().add(value)
            self.values.append(value)

    def __iter__(self):
        return iter(self.values)

    def __reduce__(self):
        return OrderedSet, (list(self.values),)


def sent(ec3, radl):
    """The text for the Infrastructure Manager, as that reads it."""
    from radl import radl_json, radl_parse
    read = radl_parse.parse_radl(ec3.dump_radl(radl, order_deploys=True))
    read.check()  # what the Infrastructure Manager does with it before anything else
    aspects = json.loads(radl_json.dump_radl(read))
    for aspect in aspects:
        if "recipes" in aspect:
            aspect["recipes"] = plain(ec3.yaml.safe_load(aspect["recipes"]))
    return aspects


def compose(ec3, recorder, folder, templates):
    recorder.said.clear()
    ec3.TEMPLATE_PATHS[:] = [folder]
    try:
        return {"aspects": sent(ec3, ec3.CmdLaunch.generate_radl(templates, [], []))}
    except SystemExit:
        return {"refused": recorder.said[-1] if recorder.said else "without a word"}
    except Exception as problem:  # whatever it raises, it refuses the set
        return {"refused": "%s: %s" % (type(problem).__name__, problem)}


def main():
    os.environ["HOME"] = os.getcwd()
    os.makedirs(".ec3", exist_ok=True)
    logging.raiseExceptions = False
    ec3 = load_ec3(os.environ["EC3_SOURCE"])
    recorder = Recorder()
    ec3.CLI.logger.addHandler(recorder)
    ec3.CLI.logger.propagate = False
    one_parser(ec3)
    ec3.IM_RADL.set = OrderedSet
    for line in sys.stdin:
        asked = json.loads(line)
        with contextlib.redirect_stdout(io.StringIO()):
            answer = compose(ec3, recorder, asked["folder"], asked["templates"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

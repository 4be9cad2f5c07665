#!/usr/bin/env python3
"""Checks the layering and the size rules of docs/contributing.md. Usage: layers.py SOURCE-FOLDER | --test

A folder may include only what LAYERS lists for it. Sizes: no file over 600 lines, tables and grammars by name excepted.
"""
import pathlib
import re
import sys

# For every folder the folders that its files may include besides its own; "x/" means x and what is below it. Arrows point down only:
# an entry is added for a folder below, never for one above or beside that would close a circle (those that stand are marked).
FRONT = ["common/", "compiler/diag", "compiler/source", "compiler/syntax"]
IR = ["compiler/ir", "compiler/resources"]
CLOUD = ["common/", *IR, "runtime/auth", "runtime/base", "runtime/catalog", "runtime/clouds", "runtime/net", "runtime/net/ssh"]
STEPS = ["common/", *IR, "runtime/base", "runtime/net", "runtime/net/ssh"]
LAYERS = {
    "common": [],
    "common/http": ["common"],
    "common/http_server": ["common", "common/http"],
    "common/precompiled": [],
    "common/command_line": ["common"],
    "common/process": ["common"],
    "common/aws": ["common", "common/http", "common/process"],
    "common/azure": ["common", "common/http", "common/process"],
    "common/google": ["common", "common/http", "common/aws"],
    "common/openstack": ["common", "common/http"],
    "common/modules": ["common", "common/http"],
    "common/transfer": ["common", "common/http", "common/aws", "common/azure", "common/google", "common/openstack"],

    "compiler/source": ["common/"],
    "compiler/resources": ["common/"],
    "compiler/ir": ["common/", "compiler/resources"],
    "compiler/diag": ["common/", "compiler/source"],
    "compiler/syntax": ["common/", "compiler/diag", "compiler/resources", "compiler/source"],
    "compiler/eval": [*FRONT, *IR, "compiler"],  # compile.h has the options: a circle
    "compiler/compat/yaml": ["common/", "compiler/eval"],
    "compiler/check": [*FRONT, *IR, "compiler/eval", "compiler/compat/yaml"],
    "compiler/compat/json": [*FRONT, *IR, "compiler/eval", "compiler/check"],
    "compiler/compat/ec3": [*FRONT, *IR, "compiler/eval", "compiler/check", "compiler/compat/yaml"],
    "compiler/passes": [*FRONT, *IR, "compiler", "compiler/eval", "compiler/check", "compiler/compat/ec3"],
    "compiler": [*FRONT, *IR, "compiler/passes"],  # compile.h: a circle with the passes
    "tools/console": [*FRONT, *IR, "compiler/eval"],
    "tools/doc": [*FRONT, "compiler/check"],
    "tools/findings": [*FRONT, "compiler"],
    "tools/fmt": FRONT,
    "tools/graph": ["common/", *IR],
    "tools/lsp": [*FRONT, *IR, "compiler", "compiler/eval", "compiler/check", "tools/doc", "tools/fmt"],

    "engine/tensor": ["common/"],
    "engine/kernels": ["common/", "engine/tensor", "engine/kernels/"],  # a circle with its implementations
    "engine/kernels/eigen": ["common/", "engine/tensor", "engine/kernels"],
    "engine/kernels/onednn": ["common/", "engine/tensor", "engine/kernels"],
    "engine/kernels/own": ["common/", "engine/tensor", "engine/kernels"],
    "engine/kernels/ref": ["common/", "engine/tensor", "engine/kernels"],
    "engine/kernels/simd": ["common/", "engine/tensor", "engine/kernels"],
    "engine/layers": ["common/", "engine/tensor", "engine/kernels/", "engine/model"],  # a circle with the model
    "engine/loss": ["common/", "engine/tensor", "engine/kernels/", "engine/model"],  # the same
    "engine/model": ["common/", "engine/tensor", "engine/kernels/", "engine/layers", "engine/loss"],
    "engine/optim": ["common/", "engine/tensor", "engine/kernels/", "engine/model"],
    "engine/cluster": ["common/", "engine/optim"],
    "engine/data": ["common/", "engine/tensor", "engine/kernels/", "engine/model"],
    "engine/export": ["common/", "engine/tensor", "engine/kernels/", "engine/model"],
    "engine/serve": ["common/", "engine/tensor", "engine/model", "engine/data", "engine/export"],
    "engine/train": ["common/", "engine/tensor", "engine/kernels/", "engine/model", "engine/optim", "engine/cluster", "engine/data", "engine/export"],
    "engine/cli": ["common/", "engine/"],

    "runtime/base": ["common/"],
    "runtime/auth": ["common/"],
    "runtime/farm": ["common/"],
    "runtime/graph": ["common/", "runtime/base"],
    "runtime/catalog": ["common/", "runtime/base"],
    "runtime/vendor": ["common/"],
    "runtime/net": ["common/", "runtime/base"],
    "runtime/net/ssh": ["common/", "runtime/base", "runtime/net"],
    "runtime/state": ["common/", *IR, "runtime/base", "runtime/net/ssh"],
    "runtime/foresight": ["common/", "runtime/base"],
    "runtime/clouds": ["common/", *IR, "runtime/auth", "runtime/base", "runtime/catalog"],
    "runtime/clouds/*": CLOUD,  # each cloud
    "runtime/plan": ["common/", *IR, "runtime/base", "runtime/farm", "runtime/graph", "runtime/catalog", "runtime/clouds", "runtime/foresight", "runtime/state"],
    "runtime/steps": [*STEPS, "runtime/farm", "runtime/steps/"],  # a circle with what is below it
    "runtime/steps/jobs": [*STEPS, "runtime/steps"],
    "runtime/steps/native": [*STEPS, "runtime/steps"],
    "runtime/steps/training": [*STEPS, "runtime/steps", "runtime/steps/jobs"],
    "runtime/steps/program": [*STEPS, "runtime/steps", "runtime/steps/jobs", "runtime/steps/training"],
    "runtime/steps/farm": [*STEPS, "runtime/farm", "runtime/steps", "runtime/steps/jobs", "runtime/steps/program", "runtime/steps/training"],
    "runtime/ansible": [*STEPS, "runtime/steps"],
    "runtime/exec": [*STEPS, "runtime/graph", "runtime/catalog", "runtime/clouds", "runtime/state", "runtime/plan", "runtime/steps", "runtime/steps/jobs"],
    "runtime/figures": ["common/", *IR, "runtime/base", "runtime/foresight", "runtime/state", "runtime/plan", "runtime/exec"],
    "runtime/run": [*STEPS, "runtime/catalog", "runtime/clouds", "runtime/state", "runtime/plan", "runtime/steps/", "runtime/exec", "runtime/figures"],
    "runtime/trial": [*STEPS, "runtime/catalog", "runtime/clouds", "runtime/clouds/simulated", "runtime/state", "runtime/plan", "runtime/steps", "runtime/exec"],
    "runtime/driver": [*FRONT, *IR, "compiler", "runtime/base", "runtime/auth", "runtime/farm", "runtime/catalog", "runtime/clouds", "runtime/clouds/hosts", "runtime/net/", "runtime/state",
                       "runtime/plan", "runtime/foresight", "runtime/steps/", "runtime/ansible", "runtime/exec", "runtime/run", "runtime/figures"],
    "runtime/serve": [*FRONT, "compiler/ir", "compiler/check", "compiler/compat/json", "runtime/base", "runtime/auth", "runtime/clouds", "runtime/state", "runtime/plan", "runtime/exec",
                      "runtime/run", "runtime/driver"],
    "runtime/cli": ["common/", "compiler/", "tools/", "runtime/"],
}
# What sees the content of secrets: computes with them, judges them, or puts them where secrets belong.
SECRETS = "compiler/eval/secret_access.h"
MAY_SEE_SECRETS = ["compiler/eval/evaluate", "compiler/eval/functions_", "compiler/eval/operators.cc", "compiler/eval/permission.h", "compiler/eval/value.cc",
                   "compiler/eval/input_values.cc", "compiler/eval/lower_radl2.cc", "compiler/eval/scopes_inputs.cc",
                   "compiler/check/merge.cc", "compiler/check/check_feature.cc", "compiler/passes/requirements.cc"]
LIMIT = 600
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def entry(folder: str) -> list | None:
    """What a folder may include; "x/*" stands for each folder in x. None: it has no entry."""
    return LAYERS.get(folder, LAYERS.get(folder.rpartition("/")[0] + "/*"))


def may_include(folder: str, included: str) -> bool:
    of = included.rpartition("/")[0]
    return of == folder or any(of == p.rstrip("/") or p.endswith("/") and (of + "/").startswith(p) for p in entry(folder) or ())


def main(root: pathlib.Path) -> int:
    problems = []
    files = [p for top in ("common", "compiler", "tools", "engine", "runtime")
             for p in sorted((root / top).rglob("*")) if p.suffix in (".h", ".cc")]
    for path in files:
        name = path.relative_to(root).as_posix()
        folder = path.parent.relative_to(root).as_posix()
        if entry(folder) is None:
            problems.append(f"{name}: {folder} has no entry in tests/lint/layers.py, which says what it may include")
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LIMIT:
            problems.append(f"{name}: {len(lines)} lines; split it (limit {LIMIT})")
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if not found or "/" not in found.group(1):
                continue
            included = found.group(1)
            if not (root / included).exists():
                continue  # generated
            if included == SECRETS and not any(name.startswith(p) for p in MAY_SEE_SECRETS):
                problems.append(f"{name}:{number}: may not see what secrets hold ({included})")
            if not may_include(folder, included):
                problems.append(f"{name}:{number}: {folder} may not include {included}")
    for problem in problems:
        print(problem)
    print(f"{len(files)} files looked at, {len(problems)} problems")
    return 1 if problems or not files else 0


def test() -> int:
    for folder, included, allowed in [("runtime/driver", "runtime/cli/command.h", False),
                                      ("runtime/driver", "runtime/driver/host.h", True),
                                      ("runtime/run", "runtime/driver/host.h", False),
                                      ("runtime/clouds", "runtime/clouds/ec2/api.h", False),
                                      ("runtime/clouds/ec2", "common/aws/query.h", True),
                                      ("runtime/clouds/fifth", "runtime/auth/auth_file.h", True),
                                      ("runtime/clouds/fifth", "runtime/clouds/ec2/api.h", False),
                                      ("compiler/check", "runtime/base/world.h", False),
                                      ("engine/train", "compiler/ir/ir.h", False),
                                      ("runtime/new", "common/status.h", False)]:
        assert may_include(folder, included) is allowed, (folder, included)
    print("layers: judges as it should")
    return 0


if __name__ == "__main__":
    sys.exit(test() if sys.argv[1:] == ["--test"] else main(pathlib.Path(sys.argv[1])))

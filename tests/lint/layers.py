#!/usr/bin/env python3
"""Checks the layering and the size rules of docs/contributing.md. Usage: layers.py SOURCE-FOLDER

A folder may include only what stands below it. Sizes: no file over 600 lines, tables and grammars by name excepted.
"""
import pathlib
import re
import sys

ALLOWED = [  # (folder, prefixes that its files may include)
    ("common/", ["common/"]),
    ("compiler/ir/", ["common/", "compiler/ir/"]),
    ("compiler/source/", ["common/", "compiler/source/"]),
    ("compiler/diag/", ["common/", "compiler/source/", "compiler/diag/"]),
    ("compiler/", ["common/", "compiler/"]),
    ("engine/", ["common/", "engine/"]),
    ("runtime/base/", ["common/", "runtime/base/"]),
    ("runtime/auth/", ["common/", "runtime/auth/"]),
    ("runtime/graph/", ["common/", "runtime/base/", "runtime/graph/"]),
    ("runtime/driver/", ["common/", "compiler/", "runtime/"]),
    ("runtime/cli/", ["common/", "compiler/", "runtime/"]),
    ("runtime/", ["common/", "compiler/ir/", "compiler/compile.h", "runtime/"]),
]
NOT_ABOVE = [  # (folder, prefixes that it must not include although the rule above would let it)
    ("runtime/plan/", ["runtime/exec/", "runtime/cli/", "runtime/driver/", "runtime/net/", "runtime/steps/", "runtime/ansible/", "runtime/clouds/local/", "runtime/clouds/hosts/", "runtime/clouds/simulated/"]),
    ("runtime/state/", ["runtime/exec/", "runtime/plan/", "runtime/cli/", "runtime/driver/", "runtime/clouds/local/", "runtime/clouds/hosts/", "runtime/clouds/simulated/"]),
    ("runtime/foresight/", ["runtime/exec/", "runtime/plan/", "runtime/state/", "runtime/clouds/", "runtime/net/", "runtime/steps/", "runtime/runs/", "runtime/cli/", "runtime/driver/", "compiler/"]),
    ("runtime/net/", ["runtime/exec/", "runtime/plan/", "runtime/state/", "runtime/clouds/", "runtime/steps/", "runtime/cli/", "runtime/driver/"]),
    ("runtime/clouds/", ["runtime/exec/", "runtime/plan/", "runtime/state/", "runtime/steps/", "runtime/cli/", "runtime/driver/"]),
    ("runtime/exec/", ["runtime/cli/", "runtime/driver/"]),
    ("runtime/run/", ["runtime/cli/", "runtime/driver/"]),
    ("runtime/trial/", ["runtime/cli/", "runtime/driver/"]),
    ("runtime/driver/", ["runtime/cli/"]),
    ("compiler/syntax/", ["compiler/expr/", "compiler/hir/", "compiler/sema/", "compiler/modules/", "compiler/passes/", "compiler/tools/"]),
    ("compiler/expr/", ["compiler/hir/", "compiler/sema/", "compiler/modules/", "compiler/ec3/", "compiler/passes/", "compiler/tools/"]),
    ("compiler/hir/", ["compiler/sema/", "compiler/modules/", "compiler/ec3/", "compiler/passes/", "compiler/tools/"]),
    ("compiler/sema/", ["compiler/modules/", "compiler/ec3/", "compiler/passes/", "compiler/tools/"]),
    ("compiler/passes/", ["compiler/tools/"]),
    ("engine/tensor/", ["engine/model/", "engine/train/", "engine/cluster/", "engine/layers/"]),
    ("engine/kernels/", ["engine/model/", "engine/train/", "engine/cluster/", "engine/layers/"]),
    ("engine/model/", ["engine/train/", "engine/cluster/", "engine/cli/"]),
    ("engine/cluster/", ["engine/cli/"]),
]
# What sees the content of secrets: computes with them, judges them, or puts them where secrets belong.
SECRETS = "compiler/expr/secret_access.h"
MAY_SEE_SECRETS = ["compiler/expr/", "compiler/hir/lower_radl2.cc", "compiler/sema/merge.cc", "compiler/sema/check_feature.cc",
                   "compiler/passes/input_values.cc", "compiler/passes/scopes_inputs.cc", "compiler/passes/requirements.cc"]
LIMIT = 600
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def main(root: pathlib.Path) -> int:
    problems = []
    files = [p for top in ("common", "compiler", "engine", "runtime")
             for p in sorted((root / top).rglob("*")) if p.suffix in (".h", ".cc")]
    for path in files:
        name = path.relative_to(root).as_posix()
        rule = next((allowed for folder, allowed in ALLOWED if name.startswith(folder)), None)
        above = [p for folder, prefixes in NOT_ABOVE if name.startswith(folder) for p in prefixes]
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
            if rule is not None and not any(included.startswith(p) for p in rule) or any(included.startswith(p) for p in above):
                problems.append(f"{name}:{number}: may not include {included}")
    for problem in problems:
        print(problem)
    print(f"{len(files)} files looked at, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

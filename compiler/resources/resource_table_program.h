// Properties of the resource `program`: rows of resource_table.h.
#pragma once

#include "compiler/resources/resource_schema.h"

namespace radl::ir::table {

using enum PropertyType;

inline constexpr Property kProgram[] = {
    {"systems", Systems, true, "", "", 0, 0,
     "Systems whose nodes run it: one member on each, in this order. The first is the chief."},
    {"main", String, true, "", "", 0, 0,
     "What to run, in a folder with the content of `source`: a Python file (`train.py`), a Python module "
     "(`-m package.train`), or a program (`./solve`, `hostname`)."},
    {"source", Source, false, "", "", 0, 0,
     "The program's files: a folder, file, archive (`.tar`, `.tar.gz`, `.tar.xz`, `.tar.bz2`, `.zip`) or "
     "wheel of this computer, or `git::URL@COMMIT`. Without it, `main` must exist on the nodes."},
    {"exclude", List, false, "", "", 0, 0,
     "Patterns as in a `.gitignore`, for files of a folder `source` that are not sent. The file "
     "`.radlignore` at its top may name more (docs/programs.md)."},
    {"arguments", List, false, "", "", 0, 0, "Arguments of the program."},
    {"resume_arguments", List, false, "", "", 0, 0,
     "Additional last arguments if `$RADL_CHECKPOINTS` of any member has files: `['--resume']`. They are not "
     "part of the program: a change of them neither runs it again nor discards checkpoints."},
    {"environment", Map, false, "", "", 0, 0,
     "Variables of its environment. Values from sensitive inputs are never shown."},
    {"launcher", List, false, "", "", 0, 0,
     "Words before `main`: `torchrun`, `mpirun` and their options (docs/programs.md)."},
    {"runs_on", String, false, "\"each\"", "each|first", 0, 0,
     "`first`: only the chief runs it; its launcher starts the others."},
    {"ends", String, false, "\"all\"", "all|chief", 0, 0,
     "When it is finished: if all members have ended, or if the chief has. With `chief`, the others are then "
     "asked to end; use it for members that wait for work forever."},
    {"ssh", Boolean, false, "false", "", 0, 0,
     "The chief's `ssh` reaches all nodes by the addresses in `$RADL_HOSTS`, with a key that exists only "
     "during the run. For launchers such as `mpirun`."},
    {"image", String, false, "", "", 0, 0,
     "`docker://IMAGE`: run it in this container. The nodes must have podman or apptainer."},
    {"requirements", LocalPath, false, "", "", 0, 0,
     "Lock file for pip: each package with version and hashes. The Python environment is created once for "
     "each kind of machine and copied to the others."},
    {"wheelhouse", LocalPath, false, "", "", 0, 0,
     "Folder of this computer with all wheels, in place of a package index."},
    {"python", String, false, "\"python3\"", "", 0, 0, "Python on the nodes."},
    {"cpu", Integer, false, "", "", 1, 65536, "Processors that each node must have."},
    {"memory", Size, false, "", "", 0, 0, "Memory that each node must have."},
    {"gpu", Integer, false, "", "", 1, 1024, "GPUs that each node must have, as its `nvidia-smi` reports."},
    {"processes", Integer, false, "0", "", 0, 65536,
     "`$RADL_WORKERS`, the number of processes that a launcher starts on a node. 0: one per GPU, or one."},
    {"inputs", LocalPaths, false, "", "", 0, 0,
     "Files and folders of this computer, and outputs of other programs (`prepare.files`). The program reads "
     "them at `$RADL_INPUTS/NAME`. Only missing files are sent."},
    {"outputs", List, false, "", "", 0, 0,
     "Files, folders or shell patterns (`out/*.pt`) in the program's folder that are results, in addition to "
     "`$RADL_RESULTS`."},
    {"results", Output, false, "", "", 0, 0,
     "Place for results and logs: a folder of this computer, which may be missing, or `s3://BUCKET/PREFIX`, "
     "`gs://..`, `az://..`, `swift://..`. Default: `NAME-results` beside the source file."},
    {"collect", String, false, "\"first\"", "first|all", 0, 0,
     "`all`: the results of every member, in a folder with the name of its node."},
    {"checkpoints", RemotePath, false, "", "", 0, 0,
     "`$RADL_CHECKPOINTS`: a folder on the nodes that is kept between attempts, such as a shared one. "
     "Default: a folder beside the program on each node."},
    {"retries", Integer, false, "0", "", 0, 100,
     "Number of restarts after a failure or a lost member. `RADL_ATTEMPT` counts them."},
    {"lost", String, false, "\"all\"", "all|alone", 0, 0,
     "What happens if a member is killed. `all`: all members end, which counts as one failure. `alone`: only "
     "this member restarts while the others continue, for elastic launchers."},
    {"min", Integer, false, "", "", 1, 65536,
     "With `lost = 'alone'`: the program fails if fewer members are left (1)."},
    {"stop_signal", String, false, "\"TERM\"", "TERM|INT|HUP|QUIT|USR1|USR2", 0, 0,
     "Signal that asks it to end."},
    {"grace", Duration, false, "20", "", 0, 86400, "Time between that signal and SIGKILL."},
    {"timeout", Duration, false, "", "", 1, 31536000.0,
     "Longest duration of an attempt, after which it fails."},
    {"farm", String, false, "", "", 0, 0,
     "Runs many tasks instead of one member per node, packed by what they need: JSON, as the modules "
     "`std/farm/...` write it (docs/farm.md)."},
    {"elastic", Boolean, false, "false", "", 0, 0,
     "With `farm`: radlc creates as many nodes of its system as the queue pays for, at most those of the "
     "file, and removes them when they are idle and at the end (docs/farm.md)."},
    {"may_fail", Boolean, false, "false", "", 0, 0,
     "An exit status other than 0 is a result, not a failure."},
};

}  // namespace radl::ir::table

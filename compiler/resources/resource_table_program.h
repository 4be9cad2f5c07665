// The properties of the resource `program`, rows of resource_table.h.
#pragma once

#include "compiler/resources/resource_schema.h"

namespace radl::ir::table {

using enum PropertyType;

inline constexpr Property kProgram[] = {
    {"systems", Systems, true, "", "", 0, 0,
     "Systems whose nodes run it: one member on each, in this order; the first is the chief."},
    {"main", String, true, "", "", 0, 0,
     "What is run, in a folder with the content of `source`: a Python file (`train.py`), a Python module "
     "(`-m package.train`), or a program (`./solve`, `hostname`)."},
    {"source", Source, false, "", "", 0, 0,
     "The program's files: a folder, file, archive (`.tar`, `.tar.gz`, `.tar.xz`, `.tar.bz2`, `.zip`) or "
     "wheel of this computer, or `git::URL@COMMIT`; without it `main` is on the nodes."},
    {"exclude", List, false, "", "", 0, 0,
     "Patterns as of a `.gitignore`: what of a folder `source` is not sent, besides what the file "
     "`.radlignore` at its top names (docs/programs.md)."},
    {"arguments", List, false, "", "", 0, 0, "Its arguments."},
    {"resume_arguments", List, false, "", "", 0, 0,
     "Further arguments, last, whenever `$RADL_CHECKPOINTS` of a member holds something: `['--resume']`. "
     "They "
     "are no part of what the program is: changing them neither runs it again nor loses its checkpoints."},
    {"environment", Map, false, "", "", 0, 0,
     "Variables of its environment; values from sensitive inputs are shown nowhere."},
    {"launcher", List, false, "", "", 0, 0,
     "Words that stand before `main`: `torchrun`, `mpirun` and their options (docs/programs.md)."},
    {"runs_on", String, false, "\"each\"", "each|first", 0, 0,
     "`first`: only the chief runs it, and its launcher reaches the others."},
    {"ends", String, false, "\"all\"", "all|chief", 0, 0,
     "It has ended when all members have, or, for members that wait for work without an end, when the chief "
     "has; the others are asked to end then."},
    {"ssh", Boolean, false, "false", "", 0, 0,
     "The chief's `ssh` reaches all its nodes by the addresses in `$RADL_HOSTS`, with a key made for this "
     "run "
     "and taken away behind it: for launchers such as `mpirun`."},
    {"image", String, false, "", "", 0, 0,
     "`docker://IMAGE`: it runs in this container, by podman or apptainer, one of which its nodes must "
     "have."},
    {"requirements", LocalPath, false, "", "", 0, 0,
     "A lock file for pip: every package with version and hashes. The Python environment is made once for "
     "each kind of machine and sent by content."},
    {"wheelhouse", LocalPath, false, "", "", 0, 0,
     "A folder of this computer with all the wheels, in place of a package index."},
    {"python", String, false, "\"python3\"", "", 0, 0, "The nodes' Python that is used."},
    {"cpu", Integer, false, "", "", 1, 65536, "Processors that each node must have."},
    {"memory", Size, false, "", "", 0, 0, "Memory that each node must have."},
    {"gpu", Integer, false, "", "", 1, 1024, "GPUs that each node must have, as `nvidia-smi` on it tells."},
    {"workers", Integer, false, "0", "", 0, 65536,
     "`$RADL_WORKERS`, the processes that a launcher starts on a node; 0: one for each GPU, or one."},
    {"inputs", LocalPaths, false, "", "", 0, 0,
     "Files and folders of this computer, and what other programs have made (`prepare.files`), that lie at "
     "`$RADL_INPUTS/NAME`; sent by content."},
    {"outputs", List, false, "", "", 0, 0,
     "Files and folders of the program's folder, or patterns as of a shell (`out/*.pt`), that are results, "
     "besides what it writes to `$RADL_RESULTS`."},
    {"results", Output, false, "", "", 0, 0,
     "Where results and logs go: a folder of this computer, which need not exist, or `s3://BUCKET/PREFIX`, "
     "`gs://..`, `az://..`, `swift://..`; without it `NAME-results` beside the source file."},
    {"collect", String, false, "\"first\"", "first|all", 0, 0,
     "`all`: every member's results, in a folder named like its node."},
    {"checkpoints", RemotePath, false, "", "", 0, 0,
     "`$RADL_CHECKPOINTS`: a folder of the nodes that is kept between attempts, such as a shared one; "
     "without it one beside the program on each node."},
    {"retries", Integer, false, "0", "", 0, 100,
     "How often the program is started again after it failed or lost a member; `RADL_ATTEMPT` counts."},
    {"lost", String, false, "\"all\"", "all|alone", 0, 0,
     "A member that was killed: `all` end and count as one failure; `alone`, it is started again while the "
     "others go on, as elastic launchers allow."},
    {"least", Integer, false, "", "", 1, 65536,
     "With `lost = 'alone'`: without so many members the program has failed (1)."},
    {"stop_signal", String, false, "\"TERM\"", "TERM|INT|HUP|QUIT|USR1|USR2", 0, 0,
     "What asks it to end, when it is cancelled."},
    {"grace", Duration, false, "20", "", 0, 86400, "Time until it is killed then."},
    {"timeout", Duration, false, "", "", 1, 31536000.0,
     "Longest time of an attempt, after which it has failed."},
    {"may_fail", Boolean, false, "false", "", 0, 0,
     "An exit status of its own other than 0 is a product, and no failure."},
};

}  // namespace radl::ir::table

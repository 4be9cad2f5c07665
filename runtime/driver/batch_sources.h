// Packs a batch script and the files that it needs into one script for sbatch. The node that will run it may
// not exist yet, and may be able to reach only Slurm's controller.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"

namespace radl::driver {

// `sources`: files and folders, packed by the rules for a program's `source` (.radlignore,
// common/own_folders.h). The result has the script's #SBATCH lines. On each node of the job it unpacks the
// files into ./radl-JOB; on the first node it runs the script there. Invalid: a path does not exist, or the
// packed files exceed the size limit of a script.
Result<std::string> script_with_sources(const std::string& script, const std::vector<std::string>& sources,
                                        const Stop& stop);

// Files beside the script that it names as words: "train.py". `path`: of the script.
std::vector<std::string> files_named_in(const std::string& script, const std::string& path);

}  // namespace radl::driver

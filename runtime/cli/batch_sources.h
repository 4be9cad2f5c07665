// A batch script together with the files that it needs, as one script that sbatch takes: the node that runs
// it may not exist yet, and reaches nothing but Slurm's controller.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"

namespace radl::cli {

// `sources`: files, and folders, whose content goes as a program's `source` does (.radlignore,
// common/own_folders.h). The result has the script's #SBATCH lines. On each node of the job it unpacks the
// files into ./radl-JOB, and on the first one it runs the script there. Invalid: a path does not exist, or
// the files are larger, packed, than a script may be.
Result<std::string> script_with_sources(const std::string& script, const std::vector<std::string>& sources,
                                        const Stop& stop);

// Files that the script names as words and that lie beside it: "train.py". `path`: of the script.
std::vector<std::string> files_named_in(const std::string& script, const std::string& path);

}  // namespace radl::cli

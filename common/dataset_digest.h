// A dataset's content as one digest, found again quickly: files that have not changed are not read again.
#pragma once

#include <string>
#include <vector>

#include "common/dataset_files.h"
#include "common/environment.h"

namespace radl {

// SHA-256 of each file, in the order of `files`. What was found is noted in `cache`/digests (user_cache()) by
// size, times and inode; a file that was changed less than two seconds before it was read is not noted, since
// its times could stay the same over another change. `cache` empty: everything is read.
Result<std::vector<std::string>> file_digests(const DatasetFiles& dataset, const std::string& cache);

// SHA-256 over the lines "SHA256 NAME\n" of all files. Permissions and times do not count.
std::string content_digest(const DatasetFiles& dataset, const std::vector<std::string>& digests);

// $XDG_CACHE_HOME/radl, else .cache/radl in the user's home (HOME, or what the system says); "": no home.
std::string user_cache(const Lookup& environment);

}  // namespace radl

// Digest of a dataset's content. A cache avoids reading unchanged files again.
#pragma once

#include <string>
#include <vector>

#include "common/dataset_files.h"
#include "common/environment.h"

namespace radl {

// SHA-256 of each file, in the order of `files`. Caches results in `cache`/digests (user_cache()) by size,
// times and inode. Does not cache a file that changed less than two seconds before it was read, because
// another change could leave its times equal. An empty `cache` disables caching.
Result<std::vector<std::string>> file_digests(const DatasetFiles& dataset, const std::string& cache);

// SHA-256 over the lines "SHA256 NAME\n" of all files. Ignores permissions and times.
std::string content_digest(const DatasetFiles& dataset, const std::vector<std::string>& digests);

// $XDG_CACHE_HOME/radl, else .cache/radl in the user's home (HOME, or the system's); "" without a home.
std::string user_cache(const Lookup& environment);

}  // namespace radl

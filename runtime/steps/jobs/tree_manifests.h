// This computer's records of folders that it has sent as trees: their manifests, so that only changes are
// sent again.
//
//   WORK/trees/KEY.files   a manifest (runtime/steps/manifest.h)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/steps/manifest.h"

namespace radl::jobs {

// A tree's name, from the digest of its content.
std::string tree_key(const std::string& digest);

// The difference between two trees. Paths are relative to the folder.
struct TreeDifference {
  std::vector<std::string> added, changed, removed;
};
TreeDifference difference(const std::vector<ManifestEntry>& before, const std::vector<ManifestEntry>& now);
// Uncompressed size of these files of a folder.
uint64_t bytes_of(const std::string& folder, const std::vector<std::string>& files);

// nullopt: not recorded.
std::optional<std::vector<ManifestEntry>> known_manifest(const std::string& work_directory,
                                                         const std::string& key);
// The keys of all recorded trees, newest first.
std::vector<std::string> known_trees(const std::string& work_directory);
// Keeps only the newest few. Does not record a manifest with names that do not fit in a line.
Status remember_manifest(const std::string& work_directory, const std::string& key,
                         const std::vector<ManifestEntry>& entries);

}  // namespace radl::jobs

// What this computer remembers of the folders that it has sent as trees: their manifests, by which only what
// has changed is sent again.
//
//   WORK/trees/KEY.files   a manifest (runtime/steps/manifest.h)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/steps/manifest.h"

namespace radl::jobs {

// The name of a tree, from the digest of its content.
std::string tree_key(const std::string& digest);

// From one tree to another. Paths are relative to the folder.
struct TreeDifference {
  std::vector<std::string> added, changed, removed;
};
TreeDifference difference(const std::vector<ManifestEntry>& before, const std::vector<ManifestEntry>& now);
// What sending these files of a folder takes, without compression.
uint64_t bytes_of(const std::string& folder, const std::vector<std::string>& files);

// nullopt: it is not remembered.
std::optional<std::vector<ManifestEntry>> known_manifest(const std::string& work_directory,
                                                         const std::string& key);
// The keys of all that are, the newest first.
std::vector<std::string> known_trees(const std::string& work_directory);
// Only the newest few are kept. A manifest that a line cannot hold is not remembered.
Status remember_manifest(const std::string& work_directory, const std::string& key,
                         const std::vector<ManifestEntry>& entries);

}  // namespace radl::jobs

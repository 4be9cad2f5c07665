#include "runtime/steps/jobs/tree_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKept = 16;
constexpr const char* kEnd = ".files";

std::string folder_of_trees(const std::string& work_directory) { return work_directory + "/trees"; }

std::string path_of(const std::string& work_directory, const std::string& key) {
  return fmt::format("{}/{}{}", folder_of_trees(work_directory), key, kEnd);
}

// "MODE SHA256 PATH".
std::optional<ManifestEntry> read_entry(const std::string& line) {
  const size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == line.npos || second == line.npos) return std::nullopt;
  return ManifestEntry{line.substr(0, first), line.substr(first + 1, second - first - 1),
                       line.substr(second + 1), ""};
}

}  // namespace

std::string tree_key(const std::string& digest) { return digest.substr(0, 40); }

TreeDifference difference(const std::vector<ManifestEntry>& before, const std::vector<ManifestEntry>& now) {
  std::map<std::string, const ManifestEntry*> old;
  for (const ManifestEntry& entry : before) old[entry.path] = &entry;
  TreeDifference made;
  for (const ManifestEntry& entry : now) {
    auto found = old.find(entry.path);
    if (found == old.end())
      made.added.push_back(entry.path);
    else if (found->second->mode != entry.mode || found->second->sha256 != entry.sha256)
      made.changed.push_back(entry.path);
    if (found != old.end()) old.erase(found);
  }
  for (const auto& [path, entry] : old) made.removed.push_back(path);
  return made;
}

uint64_t bytes_of(const std::string& folder, const std::vector<std::string>& files) {
  uint64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path path = fs::path(folder) / file;
    if (!fs::is_regular_file(fs::symlink_status(path, error))) continue;
    const uintmax_t size = fs::file_size(path, error);
    if (!error) bytes += size;
  }
  return bytes;
}

std::optional<std::vector<ManifestEntry>> known_manifest(const std::string& work_directory,
                                                         const std::string& key) {
  auto text = read_file(path_of(work_directory, key), size_t{256} << 20);
  // What is damaged is not used.
  if (!text || tree_key(sha256_hex(*text)) != key) return std::nullopt;
  std::vector<ManifestEntry> entries;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    auto entry = read_entry(line);
    if (!entry) return std::nullopt;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<std::string> known_trees(const std::string& work_directory) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of_trees(work_directory), error)) {
    if (entry.path().extension() == kEnd)
      found.emplace_back(entry.last_write_time(error), entry.path().stem().string());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> keys;
  for (auto& [time, key] : found) keys.push_back(std::move(key));
  return keys;
}

Status remember_manifest(const std::string& work_directory, const std::string& key,
                         const std::vector<ManifestEntry>& entries) {
  const bool plain = std::none_of(entries.begin(), entries.end(), [](const ManifestEntry& entry) {
    return entry.path.find('\n') != std::string::npos;
  });
  if (!plain) return {};
  Status made = make_directories(folder_of_trees(work_directory), 0700);
  if (made.ok()) made = write_file_atomic(path_of(work_directory, key), manifest_text(entries), 0600);
  if (!made.ok()) return made;
  const std::vector<std::string> keys = known_trees(work_directory);
  std::error_code ignored;
  for (size_t i = kKept; i < keys.size(); ++i) fs::remove(path_of(work_directory, keys[i]), ignored);
  return {};
}

}  // namespace radl::jobs

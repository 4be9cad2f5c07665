#include "runtime/steps/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/base/local_digest.h"

namespace radl {

namespace fs = std::filesystem;

Result<std::vector<ManifestEntry>> local_manifest(const std::string& folder, Holding holding) {
  std::vector<ManifestEntry> entries;
  std::error_code error;
  // An error while going on ends the loop as the last entry does: it is looked at behind the loop.
  auto at = fs::recursive_directory_iterator(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::string path = at->path().string(), relative = at->path().lexically_relative(folder).string();
    if (at->is_symlink()) {
      std::string target = fs::read_symlink(path, error).string();
      if (error) break;
      entries.push_back({"link", sha256_hex(target), relative, target});
    } else if (at->is_regular_file()) {
      auto digest = local_digest(path);  // reads a file again only when it has changed
      if (!digest) return digest.status();
      auto mode = static_cast<unsigned>(at->status().permissions()) & 07777;
      entries.push_back({fmt::format("{:04o}", mode), *digest, relative, ""});
    } else if (!at->is_directory()) {
      if (holding == Holding::Sources) continue;
      return invalid(path + ": neither a file, a folder nor a link");
    } else if (is_left_out(at->path(), holding)) {
      at.disable_recursion_pending();
    }
  }
  if (error) return errno_status(error.value(), folder);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return entries;
}

Result<std::vector<std::string>> left_out_of(const std::string& folder, Holding holding) {
  std::vector<std::string> left_out;
  std::error_code error;
  auto at = fs::recursive_directory_iterator(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_symlink()) continue;
    if (at->is_directory()) {
      if (!is_left_out(at->path(), holding)) continue;
      at.disable_recursion_pending();
    } else if (at->is_regular_file() || holding != Holding::Sources) {
      continue;
    }
    left_out.push_back(at->path().lexically_relative(folder).string());
  }
  if (error) return errno_status(error.value(), folder);
  return left_out;
}

std::string manifest_text(const std::vector<ManifestEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) text += fmt::format("{} {} {}\n", entry.mode, entry.sha256, entry.path);
  return text;
}

Result<std::string> path_digest(const std::string& path, Holding holding) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return sha256_file(path);
  auto entries = local_manifest(path, holding);
  if (!entries) return entries.status();
  return sha256_hex(manifest_text(*entries));
}

}  // namespace radl

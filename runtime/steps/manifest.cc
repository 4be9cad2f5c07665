#include "runtime/steps/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/base/local_digest.h"

namespace radl {

namespace fs = std::filesystem;

Result<std::vector<ManifestEntry>> local_manifest(const std::string& folder, const Contents& contents) {
  std::vector<ManifestEntry> entries;
  std::error_code error;
  // An error while iterating ends the loop like the last entry does; it is checked after the loop.
  auto at = fs::recursive_directory_iterator(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::string path = at->path().string(), relative = at->path().lexically_relative(folder).string();
    if (belongs(*at, relative, contents) != Belongs::Yes) {
      at.disable_recursion_pending();
    } else if (at->is_symlink()) {
      std::string target = fs::read_symlink(path, error).string();
      if (error) break;
      entries.push_back({"link", sha256_hex(target), relative, target});
    } else if (at->is_regular_file()) {
      auto digest = local_digest(path);  // reads a file again only when it has changed
      if (!digest) return digest.status();
      auto mode = static_cast<unsigned>(at->status().permissions()) & 07777;
      entries.push_back({fmt::format("{:04o}", mode), *digest, relative, ""});
    } else if (!at->is_directory() && contents.holding != Holding::Sources) {
      return invalid(path + ": neither a file, a folder nor a link");
    }
  }
  if (error) return errno_status(error.value(), folder);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return entries;
}

Result<std::vector<std::string>> parts_of(const std::string& folder, const Contents& contents) {
  std::vector<std::string> parts;
  std::error_code error;
  auto at = fs::recursive_directory_iterator(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string relative = at->path().lexically_relative(folder).string();
    if (belongs(*at, relative, contents) != Belongs::Yes)
      at.disable_recursion_pending();
    else if (at->is_symlink() || at->is_directory() || at->is_regular_file())
      parts.push_back(relative);
  }
  if (error) return errno_status(error.value(), folder);
  return parts;
}

std::string manifest_text(const std::vector<ManifestEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) text += fmt::format("{} {} {}\n", entry.mode, entry.sha256, entry.path);
  return text;
}

Result<std::string> path_digest(const std::string& path, const Contents& contents) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return sha256_file(path);
  auto entries = local_manifest(path, contents);
  if (!entries) return entries.status();
  return sha256_hex(manifest_text(*entries));
}

}  // namespace radl

#include "runtime/serve/own_files.h"

#include <algorithm>
#include <filesystem>

#include "runtime/serve/own_call.h"

namespace radl::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 10000;

}  // namespace

Json files_below(const std::string& folder, bool hidden) {
  Json files = Json::array();
  std::error_code error;
  std::vector<std::pair<std::string, uint64_t>> found;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!hidden && at->path().filename().string().starts_with('.')) continue;
    if (at->is_symlink() || !at->is_regular_file()) continue;
    found.emplace_back(at->path().lexically_relative(folder).string(), at->file_size());
    if (found.size() >= kMostFiles) break;
  }
  std::ranges::sort(found);
  for (const auto& [path, size] : found) files.push_back({{"path", path}, {"bytes", size}});
  return files;
}

// The segments of a path of a request have neither ".." nor "/".
httpd::Answer download_of(const std::string& folder, const std::string& path) {
  const auto missing = [] { return error_answer(404, "not_found", "there is no such file"); };
  fs::path file = folder;
  std::error_code error;
  for (const fs::path& part : fs::path(path)) {
    file /= part;
    if (part.string().starts_with('.') || fs::is_symlink(file, error)) return missing();
  }
  if (!fs::is_regular_file(file, error)) return missing();
  httpd::Answer answer{.type = "application/octet-stream", .file = file.string()};
  answer.headers.emplace_back("Content-Disposition", "attachment");
  return answer;
}

}  // namespace radl::serve

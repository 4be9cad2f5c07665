#include "runtime/figures/runs_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/files.h"
#include "common/text.h"
#include "common/turn.h"

namespace radl {

Result<std::vector<RunFigures>> read_runs(const std::string& path, size_t* left_out) {
  std::vector<RunFigures> runs;
  auto text = read_file(path);
  if (!text.ok()) {
    if (text.status().code() == Code::NotFound) return runs;
    return std::move(text).status();
  }
  for (std::string_view line : split(*text, '\n')) {
    if (trim(line).empty()) continue;
    auto figures = from_line(line);
    if (figures.ok()) {
      runs.push_back(std::move(*figures));
    } else if (left_out != nullptr) {
      ++*left_out;
    }
  }
  return runs;
}

std::vector<RunFigures> newest_runs(const std::string& path, size_t bytes) {
  std::vector<RunFigures> runs;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return runs;
  const auto size = static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0));
  const size_t from = size > bytes ? size - bytes : 0;
  std::string text(size - from, '\0');
  file.seekg(static_cast<std::streamoff>(from));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  std::string_view rest = text;
  // The first line is whole only where the file begins with it.
  if (from > 0) rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  for (std::string_view line : split(rest, '\n')) {
    auto figures = from_line(line);
    if (figures.ok()) runs.push_back(std::move(*figures));
  }
  return runs;
}

Status append_run(const std::string& path, const RunFigures& figures, const Stop& stop) {
  Status made = make_directories(std::filesystem::path(path).parent_path().string(), 0700);
  if (!made.ok()) return made;
  // On a file of its own, which stays while the other is replaced.
  auto turn = FileTurn::take(path + ".lock", stop);
  if (!turn.ok()) return std::move(turn).status().at("waiting for " + path);
  std::string text;
  if (auto before = read_file(path); before.ok()) {
    text = std::move(*before);
  } else if (before.status().code() != Code::NotFound) {
    return std::move(before).status();
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) >= kMostRuns) {
    size_t at = 0;
    for (size_t dropped = 0; dropped < kMostRuns / 2; ++dropped) at = text.find('\n', at) + 1;
    text.erase(0, at);
  }
  return write_file_atomic(path, text + to_line(figures) + "\n", 0600);
}

}  // namespace radl

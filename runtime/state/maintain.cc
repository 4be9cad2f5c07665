// What one does to states from outside a run: list, find.
#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/rows.h"
#include "runtime/state/sqlite_store.h"
#include "runtime/state/trace.h"

namespace radl {

namespace fs = std::filesystem;

Result<std::vector<std::string>> list_states(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    bool is_state = fs::exists(at->path() / "state.db", unreadable) || unreadable ||
                    is_certainly_of_a_state(at->path().string());
    if (is_state && at->is_directory(unreadable)) names.push_back(at->path().filename());
  }
  if (error && error != std::errc::no_such_file_or_directory) return errno_status(error.value(), directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string default_state_directory(const std::string& source_path) {
  fs::path folder = fs::path(source_path).parent_path();
  return ((folder.empty() ? fs::path(".") : folder) / ".radl").string();
}

}  // namespace radl

#include "runtime/cli/user_files.h"

#include <cstdlib>
#include <filesystem>

namespace radl::cli {

std::string user_file(const std::string& name) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state == '/') {
    folder = state;
  } else if (home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".local/state";
  } else {
    return "";
  }
  return (folder / "radlc" / name).string();
}

std::string infrastructures_index() { return user_file("infrastructures.json"); }

}  // namespace radl::cli

#include "runtime/driver/user_files.h"

#include <cstdlib>
#include <filesystem>

namespace radl::driver {

namespace {

// XDG Base Directory Specification 0.8: a variable that is no absolute path counts as not set.
std::string file_below(const char* variable, const char* below_home, const std::string& name) {
  const char* set = std::getenv(variable);
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (set != nullptr && *set == '/') {
    folder = set;
  } else if (home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / below_home;
  } else {
    return "";
  }
  return (folder / "radlc" / name).string();
}

}  // namespace

std::string user_file(const std::string& name) { return file_below("XDG_STATE_HOME", ".local/state", name); }

std::string user_data_file(const std::string& name) {
  return file_below("XDG_DATA_HOME", ".local/share", name);
}

std::string user_catalog_file(const std::string& cloud) {
  return user_data_file("catalog/" + cloud + ".catalog");
}

std::string infrastructures_index() { return user_file("infrastructures.json"); }

}  // namespace radl::driver

#include "runtime/driver/host.h"

#include <filesystem>

namespace radl::driver {

namespace {

// XDG Base Directory Specification 0.8: a variable that is not an absolute path counts as not set.
std::string file_below(const Host& host, const char* variable, const char* below_home,
                       const std::string& name) {
  const std::string set = host.variable(variable), home = host.variable("HOME");
  std::filesystem::path folder;
  if (set.starts_with('/')) {
    folder = set;
  } else if (home.starts_with('/')) {
    folder = std::filesystem::path(home) / below_home;
  } else {
    return "";
  }
  return (folder / "radlc" / name).string();
}

}  // namespace

std::string Host::state_file(const std::string& name) const {
  return file_below(*this, "XDG_STATE_HOME", ".local/state", name);
}

std::string Host::data_file(const std::string& name) const {
  return file_below(*this, "XDG_DATA_HOME", ".local/share", name);
}

}  // namespace radl::driver

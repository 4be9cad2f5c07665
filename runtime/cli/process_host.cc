#include "runtime/cli/process_host.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>

namespace radl::cli {

driver::Host process_host() {
  driver::Host host;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const size_t equals = text.find('='); equals != text.npos)
      host.environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  std::error_code removed;  // the folder is: places in it are then looked for at the root
  host.folder = std::filesystem::current_path(removed).string();
  host.world = &real_world();
  return host;
}

}  // namespace radl::cli

#include "runtime/cli/process_host.h"

#include <filesystem>

namespace radl::cli {

driver::Host process_host() {
  driver::Host host;
  std::error_code removed;  // the folder is: places in it are then looked for at the root
  host.folder = std::filesystem::current_path(removed).string();
  host.world = &real_world();
  return host;
}

}  // namespace radl::cli

#include "common/program_folder.h"

#include <filesystem>
#include <system_error>

namespace radl {

std::string program_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.parent_path().string();
}

}  // namespace radl

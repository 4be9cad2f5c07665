#include "common/tidy_path.h"

#include <filesystem>
#include <system_error>

namespace radl {

std::string tidy_path(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path given(path), tidy = given.lexically_normal();
  std::error_code error;
  bool another = fs::exists(given, error) && !fs::equivalent(given, tidy, error);
  return another ? path : tidy.string();
}

bool goes_up(std::string_view path) {
  return ("/" + std::string(path) + "/").find("/../") != std::string::npos;
}

}  // namespace radl

#include "runtime/steps/training/result_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/files.h"
#include "common/own_folders.h"

namespace radl::training {

namespace fs = std::filesystem;

Status check_result_folder(const std::string& path) {
  auto wrong = [&](const fs::path& at, const std::string& what) {
    const std::string which = at == path ? ", and" : fmt::format(": '{}'", at.string());
    return invalid(fmt::format("'{}' is to get the results{} {}", path, which, what))
        .with_hint("name another folder");
  };
  if (path.empty()) return invalid("no folder for the result");
  std::error_code error;
  fs::path at = path;
  while (fs::symlink_status(at, error).type() == fs::file_type::not_found && at.has_relative_path())
    at = at.parent_path();
  // Nothing can be made in a link's place.
  const bool link = fs::is_symlink(fs::symlink_status(at, error));
  const fs::file_status status = fs::status(at, error);
  if (!fs::exists(status)) return wrong(at, link ? "is a link that leads nowhere" : error.message());
  if (!fs::is_directory(status)) return wrong(at, "is no folder");
  if (::access(at.c_str(), W_OK | X_OK) != 0)
    return wrong(at, fmt::format("cannot be written to ({})", std::strerror(errno)));
  return {};
}

Status make_result_folder(const std::string& path) {
  if (Status made = make_directories(path); !made.ok()) return made;
  return write_user_file(fmt::format("{}/{}", path, kResultsMark), "");
}

}  // namespace radl::training

#include "compiler/source/read.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/files.h"

namespace radl {

Result<std::string> read_source_file(const std::string& path, size_t limit) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) {
    constexpr std::string_view kOpened[] = {"/dev/stdin", "/dev/fd/", "/proc/"};
    const bool opened = std::any_of(std::begin(kOpened), std::end(kOpened),
                                    [&](std::string_view place) { return path.starts_with(place); });
    if (!opened) return invalid(path + ": is a named pipe and no regular file");
  }
  return read_file(path, limit);
}

}  // namespace radl

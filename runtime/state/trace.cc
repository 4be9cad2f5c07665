#include "runtime/state/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "common/files.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

constexpr std::array kOwnFolders{"work", "logs"};  // made empty with the state; what is in them came later

std::string first_line(const std::string& path) {
  Result<std::string> text = read_file(path, 4096);
  return text.ok() ? text->substr(0, text->find('\n')) : "";
}

std::string filled_folder(const std::string& folder) {
  for (const char* name : kOwnFolders) {
    std::error_code error;
    fs::directory_iterator first(folder + "/" + name, error);
    if (!error && first != fs::directory_iterator()) return std::string("files in ") + name + "/";
  }
  return "";
}

}  // namespace

// Written in place instead of renamed: a kill in between leaves an empty file and no second one, and only its
// existence matters.
Status write_id(const std::string& folder, const std::string& tag) {
  std::string path = folder + "/" + kIdFile;
  if (first_line(path) == tag) return {};
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return errno_status(errno, path);
  std::string line = tag + "\n";
  ssize_t written = ::write(fd, line.data(), line.size());
  int error = written < 0 ? errno : written < static_cast<ssize_t>(line.size()) ? ENOSPC : 0;
  ::close(fd);
  return error ? errno_status(error, path) : Status();
}

bool has_id(const std::string& folder, const std::string& tag) {
  return first_line(folder + "/" + kIdFile) == tag;
}

std::string trace_of_state(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder + "/" + kIdFile, error)) return std::string("the file ") + kIdFile;
  return filled_folder(folder);
}

bool is_certainly_of_a_state(const std::string& folder) {
  std::string tag = first_line(folder + "/" + kIdFile), name = fs::path(folder).filename().string();
  if (tag.size() == name.size() + 9 && tag.starts_with(name + "-")) return true;
  std::error_code error;
  return fs::exists(folder + "/lock", error) && !filled_folder(folder).empty();
}

Status lost_state(const std::string& folder, const std::string& found) {
  std::string tag = first_line(folder + "/" + kIdFile);
  std::string made = tag.empty() ? "" : " (tagged in the clouds as " + tag + ")";
  return Status(Code::Corrupt,
                folder + ": a state was here (" + found +
                    "), but state.db is missing or empty; radlc never starts over on its own, because its "
                    "resources" +
                    made + " would be created again, and nothing would remove the first ones")
      .with_hint(
          "restore state.db from a backup; or, if none of its resources exist any more, remove the folder " +
          folder);
}

}  // namespace radl

#include "common/modules/content.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestPath = 1000;

Status check_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || path.front() == '/' || path.find('\0') != path.npos)
    return invalid("a file's path is empty, absolute or too long");
  for (std::string_view part : split(path, '/')) {
    if (part.empty() || part == "." || part == "..")
      return invalid(fmt::format("the path '{}' may lead out of the package", path));
  }
  return {};
}

// True if the link, followed from a real folder, stays in the package: '..' occurs only at its beginning, and
// not more often than the link's depth. (After another link, '..' would be that link's parent.)
bool link_stays(std::string_view path, std::string_view target) {
  if (target.empty() || target.size() > kLongestPath || target.front() == '/' ||
      target.find('\0') != target.npos)
    return false;
  size_t depth = split(path, '/').size() - 1, up = 0;
  bool named = false;
  for (std::string_view part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      named = true;
    else if (named || ++up > depth)
      return false;
  }
  return true;
}

std::string_view kind_word(File::Kind kind) {
  return kind == File::Kind::Link ? "link" : kind == File::Kind::Program ? "program" : "file";
}

Status write_one(const std::string& path, const File& file) {
  if (file.kind == File::Kind::Link)
    return ::symlink(file.bytes.c_str(), path.c_str()) == 0 ? ok_status() : errno_status(errno, path);
  const int mode = file.kind == File::Kind::Program ? 0755 : 0644;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) return errno_status(errno, path);
  Status done = write_all(fd, file.bytes, path);
  ::close(fd);
  return done;
}

// A folder of the path that is a link or a file at the same time: an archive can say so.
Status check_parents(const Content& content, const std::string& path) {
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (content.contains(path.substr(0, slash)))
      return invalid(fmt::format("'{}' is a folder and something else", path.substr(0, slash)));
  }
  return {};
}

Result<File> read_one(const fs::directory_entry& entry) {
  const std::string path = entry.path().string();
  std::error_code error;
  File file;
  if (entry.is_symlink(error)) {
    file.kind = File::Kind::Link;
    file.bytes = fs::read_symlink(entry.path(), error).string();
    if (error) return errno_status(error.value(), path);
    return file;
  }
  if (!entry.is_regular_file(error))
    return invalid(fmt::format("{} is neither a file, a folder nor a link", path));
  auto bytes = read_file(path, size_t(kMostBytes));
  if (!bytes.ok()) return std::move(bytes).status();
  file.bytes = std::move(*bytes);
  if ((entry.status(error).permissions() & fs::perms::owner_exec) != fs::perms::none)
    file.kind = File::Kind::Program;
  return file;
}

}  // namespace

bool is_for_git(std::string_view path) {
  for (std::string_view part : split(path, '/'))
    if (to_lower(part.substr(0, 4)) == ".git") return true;
  return false;
}

uint64_t bytes_of(const Content& content) {
  uint64_t bytes = 0;
  for (const auto& [path, file] : content) bytes += file.bytes.size();
  return bytes;
}

Status add_file(Content& content, std::string path, File file) {
  if (Status fine = check_path(path); !fine.ok()) return fine;
  if (file.kind == File::Kind::Link && !link_stays(path, file.bytes))
    return invalid(fmt::format("the link '{}' may lead out of the package", path));
  if (content.size() >= kMostFiles)
    return {Code::Quota, fmt::format("a package holds more than {} files", kMostFiles)};
  auto [slot, fresh] = content.try_emplace(std::move(path), std::move(file));
  if (!fresh) return invalid(fmt::format("the path '{}' occurs more than once", slot->first));
  return {};
}

std::string content_digest(const Content& content) {
  Sha256 all;
  for (const auto& [path, file] : content)
    all.update(fmt::format("{} {} {} {}\n", kind_word(file.kind), sha256_hex(file.bytes), path.size(), path));
  return all.finish_hex();
}

Result<Content> read_content(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return not_found(folder + " does not exist");
  Content content;
  uint64_t bytes = 0;
  fs::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error)) continue;
    auto file = read_one(*at);
    if (!file.ok()) return std::move(file).status();
    bytes += file->bytes.size();
    if (bytes > kMostBytes)
      return Status(Code::Quota, fmt::format("{} holds more than {} MiB", folder, kMostBytes >> 20));
    Status added =
        add_file(content, at->path().lexically_relative(folder).generic_string(), std::move(*file));
    if (!added.ok()) return std::move(added).at(folder);
  }
  if (error) return errno_status(error.value(), folder);
  return content;
}

Status write_content(const std::string& folder, const Content& content) {
  if (Status made = make_directories(folder); !made.ok()) return made;
  for (const auto& [path, file] : content) {
    if (Status fine = check_parents(content, path); !fine.ok()) return fine;
    const fs::path to = fs::path(folder) / path;
    if (Status made = make_directories(to.parent_path().string()); !made.ok()) return made;
    if (Status written = write_one(to.string(), file); !written.ok()) return written;
  }
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || ::syncfs(fd) != 0) {
    Status failed = errno_status(errno, folder);
    if (fd >= 0) ::close(fd);
    return failed;
  }
  ::close(fd);
  return {};
}

}  // namespace radl::vendored

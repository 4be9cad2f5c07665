#include "common/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "common/fd.h"
#include "common/new_file.h"

namespace radl {
namespace {

// Asks for them where they are worth it: each is one page fault instead of 512.
void on_huge_pages(char* memory, size_t size) {
  constexpr size_t kPage = size_t{2} << 20;
  uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + size) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice alone
}

}  // namespace

Status errno_status(int error, std::string_view what) {
  Code code = Code::Invalid;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      code = Code::NotFound;
      break;
    case EEXIST:
      code = Code::Exists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = Code::Auth;
      break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      code = Code::Quota;
      break;
    case EAGAIN:
    case EINTR:
    case EIO:
    case ECONNREFUSED:
    case ECONNRESET:
      code = Code::Retry;
      break;
    case ETIMEDOUT:
      code = Code::Timeout;
      break;
    default:
      break;
  }
  return {code, std::string(what) + ": " + std::strerror(error)};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno_status(errno, path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_status(errno, path);
  if (S_ISDIR(info.st_mode)) return invalid(path + ": is a folder");
  std::string content;
  if (info.st_size > 0) content.reserve(static_cast<size_t>(info.st_size));
  on_huge_pages(content.data(), content.capacity());
  char buffer[1 << 16];
  for (;;) {
    ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status(errno, path);
    if (n == 0) return content;
    if (content.size() + static_cast<size_t>(n) > limit) {
      return Status(Code::Quota, path + ": larger than the limit of " + std::to_string(limit) + " bytes");
    }
    content.append(buffer, static_cast<size_t>(n));
  }
}

Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode) {
  NewFile file;
  if (Status s = file.create(path, mode); !s.ok()) return s;
  if (Status s = file.set_mode(mode); !s.ok()) return s;
  if (Status s = file.write(content); !s.ok()) return s;
  return file.commit();
}

Status write_all(int descriptor, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status(errno, what);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status make_directories(const std::string& path, unsigned mode) {
  if (path.empty() || ::mkdir(path.c_str(), mode) == 0) return {};
  if (errno == EEXIST) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
    return invalid(path + ": exists and is not a folder");
  }
  if (errno != ENOENT) return errno_status(errno, path);
  std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (parent.string() == path) return errno_status(ENOENT, path);
  if (Status made = make_directories(parent.string(), mode); !made.ok()) return made;
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return errno_status(errno, path);
}

}  // namespace radl

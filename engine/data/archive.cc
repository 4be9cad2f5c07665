#include "engine/data/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/files.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBytes = 1 << 16;
constexpr size_t kLargestUnpacked = size_t{1} << 30, kMostMembers = 5'000'000;
constexpr uint64_t kAlwaysFine = uint64_t{1} << 30, kMostExpansion = 100;
constexpr size_t kAlwaysFineText = size_t{64} << 20, kMostTextExpansion = 100;

struct Free {
  void operator()(struct archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<struct archive, Free>;

Status broken(struct archive* a, const std::string& path, const char* otherwise) {
  const char* why = archive_error_string(a);
  return {Code::Corrupt, path + ": " + (why ? why : otherwise)};
}

Status no_memory(const std::string& path) { return {Code::Quota, path + ": no memory"}; }

// Not synced: what is unpacked can be unpacked again.
Status write_plain(const std::string& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno_status(errno, path);
  Status done = write_all(fd, bytes, path);
  ::close(fd);
  return done;
}

// False for what list_dataset() does not count either.
bool counts(const std::string& name) {
  const fs::path path(name);
  return std::none_of(path.begin(), path.end(), [](const fs::path& p) {
    const std::string part = p.string();
    return part != "." && part != ".." && !counts_in_dataset(part);
  });
}

}  // namespace

Status visit_archive(const std::string& path, const MemberVisitor& visit) {
  Archive a(archive_read_new());
  if (!a) return no_memory(path);
  for (auto* support :
       {archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_xz,
        archive_read_support_filter_zstd, archive_read_support_format_tar, archive_read_support_format_zip})
    support(a.get());
  if (archive_read_open_filename(a.get(), path.c_str(), 1 << 20) != ARCHIVE_OK)
    return broken(a.get(), path, "cannot be opened");
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a.get(), &entry);
    if (code == ARCHIVE_EOF) return {};
    if (code < ARCHIVE_WARN) return broken(a.get(), path, "not an archive");
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname(entry);
    if (!name) return broken(a.get(), path, "holds a file without a name");
    auto read = [&](size_t limit) -> Result<std::string> {
      std::string bytes;
      char buffer[kReadBytes];
      for (;;) {
        const la_ssize_t n = archive_read_data(a.get(), buffer, sizeof buffer);
        if (n < 0) return broken(a.get(), path, "is damaged");
        if (n == 0) return bytes;
        if (bytes.size() + size_t(n) > limit) {
          return Status(Code::Quota,
                        path + ": " + name + " is larger than " + std::to_string(limit) + " bytes");
        }
        bytes.append(buffer, size_t(n));
      }
    };
    if (Status s = visit(name, read); !s.ok()) return s;
  }
}

Status unpack_archive(const std::string& path, const std::string& folder) {
  std::error_code error;
  const uint64_t packed = fs::file_size(path, error);
  if (error) return errno_status(error.value(), path);
  const uint64_t most = std::max(kAlwaysFine, packed * kMostExpansion);
  const std::string temporary = folder + ".tmp-" + to_hex(random_bytes(4));
  uint64_t bytes = 0;
  size_t files = 0;
  Status done = visit_archive(path, [&](const std::string& name, const MemberReader& content) -> Status {
    if (!stays_below(name))
      return {Code::Corrupt, path + ": \"" + name + "\" leads out of the archive's folder"};
    if (!counts(name)) return {};
    auto data = content(size_t(std::min<uint64_t>(kLargestUnpacked, most - bytes)));
    if (!data.ok()) return data.status();
    bytes += data->size();
    if (++files > kMostMembers)
      return {Code::Quota, path + ": holds more than " + std::to_string(kMostMembers) + " files"};
    const std::string to = temporary + "/" + fs::path(name).lexically_normal().generic_string();
    if (Status made = make_directories(fs::path(to).parent_path().string()); !made.ok()) return made;
    return write_plain(to, *data);
  });
  if (done.ok() && files == 0) done = {Code::Corrupt, path + ": holds no file"};
  if (done.ok() && ::rename(temporary.c_str(), folder.c_str()) != 0) done = errno_status(errno, folder);
  if (!done.ok()) fs::remove_all(temporary, error);
  return done;
}

namespace {

// The content of one file that may be compressed by gzip, piece by piece.
Status visit_content(struct archive* a, const std::string& path,
                     const std::function<Status(std::string_view)>& visit) {
  char buffer[kReadBytes];
  for (;;) {
    const la_ssize_t n = archive_read_data(a, buffer, sizeof buffer);
    if (n == 0) return {};
    if (n < 0) return broken(a, path, "is damaged");
    if (Status s = visit({buffer, size_t(n)}); !s.ok()) return s;
  }
}

Archive raw_reader() {
  Archive a(archive_read_new());
  if (!a) return a;
  archive_read_support_filter_gzip(a.get());
  archive_read_support_format_raw(a.get());
  return a;
}

}  // namespace

Status visit_lines(const std::string& path, size_t longest,
                   const std::function<Status(std::string_view line)>& visit) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) return errno_status(error.value(), path);
  if (size == 0) return {};  // no file at all for libarchive
  Archive a = raw_reader();
  if (!a) return no_memory(path);
  archive_entry* entry = nullptr;
  if (archive_read_open_filename(a.get(), path.c_str(), kReadBytes) != ARCHIVE_OK ||
      archive_read_next_header(a.get(), &entry) != ARCHIVE_OK)
    return broken(a.get(), path, "cannot be read");
  std::string held;
  size_t number = 1;
  uint64_t left = std::max<uint64_t>(kAlwaysFineText, size * kMostTextExpansion);
  auto too_long = [&] {
    return Status(Code::Quota, path + ":" + std::to_string(number) + ": a line of more than " +
                                   std::to_string(longest >> 20) + " MiB");
  };
  Status read = visit_content(a.get(), path, [&](std::string_view piece) -> Status {
    if (piece.size() > left)
      return {Code::Quota,
              path + ": unpacks to more than " + std::to_string(kMostTextExpansion) + " times its size"};
    left -= piece.size();
    for (size_t end; (end = piece.find('\n')) != piece.npos; piece.remove_prefix(end + 1), ++number) {
      if (held.size() + end > longest) return too_long();
      held.append(piece.substr(0, end));
      if (Status s = visit(held); !s.ok()) return s;
      held.clear();
    }
    if (held.size() + piece.size() > longest) return too_long();
    held.append(piece);
    return {};
  });
  return read.ok() && !held.empty() ? visit(held) : read;
}

Result<std::string> read_maybe_gzip(const std::string& path, size_t limit) {
  auto bytes = read_file(path, limit);
  if (!bytes.ok() || !bytes->starts_with("\x1f\x8b")) return bytes;
  Archive a = raw_reader();
  if (!a) return no_memory(path);
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(a.get(), bytes->data(), bytes->size()) != ARCHIVE_OK ||
      archive_read_next_header(a.get(), &entry) != ARCHIVE_OK)
    return broken(a.get(), path, "is damaged");
  limit = std::min(limit, std::max(kAlwaysFineText, bytes->size() * kMostTextExpansion));
  std::string out;
  Status read = visit_content(a.get(), path, [&](std::string_view piece) -> Status {
    if (out.size() + piece.size() > limit)
      return {Code::Quota, path + ": unpacks to more than " + std::to_string(limit) + " bytes"};
    out.append(piece);
    return {};
  });
  if (!read.ok()) return read;
  return out;
}

}  // namespace radl::engine::data

#include "engine/data/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "common/files.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

struct Free {
  void operator()(struct archive* a) const { archive_read_free(a); }
};

}  // namespace

Status visit_archive(const std::string& path, const MemberVisitor& visit) {
  std::unique_ptr<struct archive, Free> a(archive_read_new());
  if (!a) return {Code::Quota, path + ": no memory"};
  archive_read_support_filter_gzip(a.get());
  archive_read_support_format_tar(a.get());
  auto broken = [&] {
    const char* why = archive_error_string(a.get());
    return Status(Code::Corrupt, path + ": " + (why ? why : "not a tar archive"));
  };
  if (archive_read_open_filename(a.get(), path.c_str(), 1 << 20) != ARCHIVE_OK) return broken();
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a.get(), &entry);
    if (code == ARCHIVE_EOF) return {};
    if (code < ARCHIVE_WARN) return broken();
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname(entry);
    if (!name) return broken();
    auto read = [&](size_t limit) -> Result<std::string> {
      std::string bytes;
      char buffer[1 << 16];
      for (;;) {
        const la_ssize_t n = archive_read_data(a.get(), buffer, sizeof buffer);
        if (n < 0) return broken();
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

Result<std::string> read_maybe_gzip(const std::string& path, size_t limit) {
  auto bytes = read_file(path, limit);
  if (!bytes.ok() || !bytes->starts_with("\x1f\x8b")) return bytes;
  std::unique_ptr<struct archive, Free> a(archive_read_new());
  if (!a) return Status(Code::Quota, path + ": no memory");
  archive_read_support_filter_gzip(a.get());
  archive_read_support_format_raw(a.get());
  archive_entry* entry = nullptr;
  std::string out;
  bool good = archive_read_open_memory(a.get(), bytes->data(), bytes->size()) == ARCHIVE_OK &&
              archive_read_next_header(a.get(), &entry) == ARCHIVE_OK;
  char buffer[1 << 16];
  while (good) {
    const la_ssize_t n = archive_read_data(a.get(), buffer, sizeof buffer);
    if (n == 0) return out;
    good = n > 0;
    if (good && out.size() + size_t(n) > limit) {
      return Status(Code::Quota, path + ": unpacks to more than " + std::to_string(limit) + " bytes");
    }
    if (good) out.append(buffer, size_t(n));
  }
  const char* why = archive_error_string(a.get());
  return Status(Code::Corrupt, path + ": " + (why ? why : "is damaged"));
}

}  // namespace radl::engine::data

// tar and zip, plain or compressed, through libarchive.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "common/tidy_path.h"
#include "common/transfer/download.h"
#include "runtime/vendor/fetch.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

struct Free {
  void operator()(struct archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<struct archive, Free>;

Status damaged(struct archive* a) {
  const char* why = archive_error_string(a);
  return {Code::Corrupt, fmt::format("the archive cannot be read: {}", why ? why : "it is damaged")};
}

Archive open_archive(const std::string& path) {
  Archive a(archive_read_new());
  if (!a) return a;
  for (auto* support :
       {archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_xz,
        archive_read_support_filter_lzip, archive_read_support_filter_zstd, archive_read_support_format_tar,
        archive_read_support_format_zip})
    support(a.get());
  archive_read_open_filename(a.get(), path.c_str(), 1 << 16);  // the first read says what failed
  return a;
}

// "./a//b/" -> "a/b"; paths that lead out are unchanged, and add_file rejects them.
std::string tidy(const char* name) {
  std::string path = fs::path(name).lexically_normal().generic_string();
  while (path.ends_with("/")) path.pop_back();
  return path == "." ? "" : path;
}

Result<std::string> bytes_of_entry(struct archive* a, uint64_t most) {
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const la_ssize_t n = archive_read_data(a, buffer, sizeof buffer);
    if (n < 0) return damaged(a);
    if (n == 0) return bytes;
    if (bytes.size() + size_t(n) > most)
      return Status(Code::Quota, fmt::format("the archive holds more than {} MiB", kMostBytes >> 20));
    bytes.append(buffer, size_t(n));
  }
}

Status take_entry(struct archive* a, archive_entry* entry, Content& content, uint64_t& bytes) {
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) return {Code::Corrupt, "the archive holds a file without a name"};
  const std::string path = tidy(name);
  const auto type = archive_entry_filetype(entry);
  if (archive_entry_hardlink(entry) != nullptr)
    return invalid(fmt::format("the archive holds '{}' as a hard link", path));
  if (type == AE_IFDIR || is_for_git(path)) return {};
  if (type != AE_IFREG && type != AE_IFLNK)
    return invalid(fmt::format("'{}' in the archive is neither a file, a folder nor a link", path));
  File file;
  if (type == AE_IFLNK) {
    const char* target = archive_entry_symlink(entry);
    file = {File::Kind::Link, target ? target : ""};
  } else {
    auto read = bytes_of_entry(a, kMostBytes - bytes);
    if (!read.ok()) return std::move(read).status();
    bytes += read->size();
    file = {archive_entry_perm(entry) & 0100 ? File::Kind::Program : File::Kind::Plain, std::move(*read)};
  }
  return add_file(content, path, std::move(file));
}

Result<Content> read_archive(const std::string& path, const Stop& stop) {
  Archive a = open_archive(path);
  if (!a) return Status(Code::Quota, "no memory for the archive");
  Content content;
  uint64_t bytes = 0;
  for (;;) {
    if (Status going = stop.check(); !going.ok()) return going;
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a.get(), &entry);
    if (code == ARCHIVE_EOF) return content;
    if (code < ARCHIVE_WARN) return damaged(a.get());
    if (Status taken = take_entry(a.get(), entry, content, bytes); !taken.ok()) return taken;
  }
}

}  // namespace

Result<Fetched> fetch_archive(const Source& source, http::Client& http) {
  const Address& address = source.address;
  std::string path = address.location;
  if (!address.local) {
    path = source.temporary + "/archive";
    transfer::Download download;
    download.url = address.location;
    download.path = path;
    download.largest = kMostPacked;
    download.stop = source.stop;
    if (Status done = transfer::download(http, download); !done.ok()) return done;
  } else if (path.starts_with("file://")) {
    path.erase(0, 7);
  } else {
    path = tidy_path((fs::path(source.project.empty() ? "." : source.project) / path).string());
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return not_found(fmt::format("there is no archive {}", path));
  auto content = read_archive(path, source.stop);
  if (!content.ok()) return std::move(content).status();
  Fetched made;
  made.content = std::move(*content);
  return made;
}

}  // namespace radl::vendored

// Reads archives (tar, plain or with gzip, bzip2, xz or zstd; zip) and compressed text with libarchive.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::engine::data {

// Called for each regular file with its name in the archive. `content` returns its bytes, or Quota if there
// are more than `limit`. The file is skipped if `content` is not called.
using MemberReader = std::function<Result<std::string>(size_t limit)>;
using MemberVisitor = std::function<Status(const std::string& name, const MemberReader& content)>;

// Corrupt, with the archive's name: it is truncated or not an archive. Writes nothing to disk.
Status visit_archive(const std::string& path, const MemberVisitor& visit);

// Extracts the regular files to a new folder, atomically. Skips names that begin with a
// dot, and __MACOSX. Corrupt: a name points outside the folder. Quota: a file over 1 GiB,
// more than 5 million files, or a total of more than 100 times the archive's size and 1
// GiB.
Status unpack_archive(const std::string& path, const std::string& folder);

// Visits each line, without its end, of a text that may be compressed by gzip. Holds one line in memory.
// Quota: a line of more than `longest` bytes, or a total of more than 100 times the file's size and 64 MiB.
Status visit_lines(const std::string& path, size_t longest,
                   const std::function<Status(std::string_view line)>& visit);

}  // namespace radl::engine::data

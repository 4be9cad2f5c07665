// Archives (tar, plain or compressed by gzip, bzip2, xz or zstd; zip) and compressed text through libarchive.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::engine::data {

// Called for each regular file with its name in the archive; gives the content's bytes by calling `content`,
// which refuses more than `limit` bytes (Quota). Not calling it skips the member.
using MemberReader = std::function<Result<std::string>(size_t limit)>;
using MemberVisitor = std::function<Status(const std::string& name, const MemberReader& content)>;

// Corrupt, with the archive's name, when it is cut off or no archive. Nothing is written to disk.
Status visit_archive(const std::string& path, const MemberVisitor& visit);

// Writes the regular files to a folder that does not exist yet, which then appears whole or not at all. Names
// that begin with a dot, and __MACOSX, are left out. Corrupt: a name leads out of the folder. Quota: a file
// of more than 1 GiB, more than 5 million files, or all together more than 100 times the archive's size and 1
// GiB.
Status unpack_archive(const std::string& path, const std::string& folder);

// Each line, without its end, of a text that may be compressed by gzip; memory for one line only. Quota: a
// line of more than `longest` bytes, or more than 100 times the file's size and 64 MiB all together.
Status visit_lines(const std::string& path, size_t longest,
                   const std::function<Status(std::string_view line)>& visit);

}  // namespace radl::engine::data

// Reads the members of a tar archive (gzip or not) through libarchive; nothing is written to disk by it.
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

// Corrupt, with the archive's name, when it is cut off or no archive.
Status visit_archive(const std::string& path, const MemberVisitor& visit);

}  // namespace radl::engine::data

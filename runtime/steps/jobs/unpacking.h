// Unpacks a tree's archive on a node.
#pragma once

#include <string>

namespace radl::jobs {

// Shell text that unpacks the archive "$a" into the folder "$t", by the extension of `archive`.
std::string unpack_command(const std::string& archive);

}  // namespace radl::jobs

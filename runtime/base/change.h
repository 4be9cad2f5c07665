// One change by a step, planned or made. Steps report it and plans show it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace radl {

struct Change {
  std::string resource;          // "file '/etc/motd'"
  std::string what;              // "content", "mode", "run", ...
  nlohmann::json before, after;  // null: absent or unknown; secrets masked
  std::string diff;              // unified diff of text content, may be empty
};

}  // namespace radl

// One thing that a step would do, or did: what the steps tell and the plan shows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace radl {

struct Change {
  std::string resource;          // "file '/etc/motd'"
  std::string what;              // "content", "mode", "run", ...
  nlohmann::json before, after;  // null: absent or not known; secrets masked
  std::string diff;              // unified diff of text content, may be empty
};

}  // namespace radl

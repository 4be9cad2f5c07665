// Converts a recipe's text to a playbook for one machine.
#pragma once

#include <string>

#include "common/status.h"

namespace radl::recipes {

struct Header {
  std::string host;     // the value of `hosts` in every play
  bool become = false;  // applied to plays that do not set it
};

// Adds `hosts`, `become` and `gather_facts: False` to each play. Keeps everything else byte for byte (tags
// such as !vault, comments, templates). Invalid, with the recipe's line and column: it is not a list of
// plays.
Result<std::string> make_playbook(const std::string& recipe, const Header& header);

// True if the text uses facts of hosts, so that they must be gathered first.
bool uses_facts(const std::string& recipe);

}  // namespace radl::recipes

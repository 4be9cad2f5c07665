// From a recipe's text to a playbook for one machine.
#pragma once

#include <string>

#include "common/status.h"

namespace radl::recipes {

struct Header {
  std::string host;     // what `hosts` becomes in every play
  bool become = false;  // written where a play does not say itself
};

// Puts `hosts`, `become` and `gather_facts: False` into each play. Everything else stays byte for byte (tags
// such as !vault, comments, templates). Invalid, with line and column of the recipe, when it is no list of
// plays.
Result<std::string> make_playbook(const std::string& recipe, const Header& header);

// True when the text names facts of hosts, so that they have to be gathered first.
bool uses_facts(const std::string& recipe);

}  // namespace radl::recipes

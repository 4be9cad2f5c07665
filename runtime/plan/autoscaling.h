// Chooses the next nodes of an elastic system from its scheduler's requests and its rules. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/scaling.h"

namespace radl {

// The requests as reported by the node of the rules.
struct ElasticLook {
  enum class Wish { Add, Remove, Renew };  // Renew: remove the existing node first
  std::map<int, Wish> wishes;              // by ordinal
  std::optional<int> wanted;               // the number printed by the command `wanted`
};
// Parses lines "wish ORDINAL add|remove|renew" and "wanted N". Invalid: anything else; quotes the line.
Result<ElasticLook> read_elastic_look(const std::string& text);

struct ElasticChoice {
  std::vector<int> nodes;              // ordinals, ascending; unchanged if there is nothing to do
  std::vector<std::string> fulfilled;  // lines of the requests that it fulfils: "3 add"
  std::string left_out;                // requests that the rules forbid; empty: none
};
// `idle`: how long fewer nodes than the current number were wanted.
ElasticChoice choose_elastic(const ElasticRules& rules, const std::vector<int>& now, const ElasticLook& look,
                             double idle_seconds);

}  // namespace radl

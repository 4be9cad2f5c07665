// What an elastic system is to have next, of what its scheduler wishes and what its rules allow. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/scaling.h"

namespace radl {

// As the node of the rules says it.
struct ElasticLook {
  enum class Wish { Add, Remove, Renew };  // Renew: what is there goes first
  std::map<int, Wish> wishes;              // by ordinal
  std::optional<int> wanted;               // what the command `wanted` has printed
};
// Lines "wish ORDINAL add|remove|renew" and "wanted N". Invalid: anything else, with the line.
Result<ElasticLook> read_elastic_look(const std::string& text);

struct ElasticChoice {
  std::vector<int> nodes;              // ordinals, ascending; as they are where nothing is to be done
  std::vector<std::string> fulfilled;  // lines of the wishes that hold with it: "3 add"
  std::string left_out;                // what the rules do not allow; empty: nothing
};
// `idle`: how long fewer nodes were wanted than there are.
ElasticChoice choose_elastic(const ElasticRules& rules, const std::vector<int>& now, const ElasticLook& look,
                             double idle_seconds);

}  // namespace radl

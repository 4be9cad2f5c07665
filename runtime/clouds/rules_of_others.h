// Openings and rules in force on a machine that radlc neither made nor changes, in words:
// "default-allow-ssh allows tcp 22 from 0.0.0.0/0 (network default)". A plan that looks notes them.
#pragma once

#include <string>
#include <utility>

#include "runtime/clouds/cloud.h"

namespace radl {

// Among Seen::marks, which no state records; and what a refresh finds (Drift::what). Tags are texts, this is
// a list: a tag of that name is not taken for it.
inline constexpr const char* kRulesOfOthers = "rules of others";

// Whether a plan goes on where such rules cannot be read, and notes that they are unknown: these credentials
// may not, or the service does not have the request.
inline bool may_stay_unknown(const Status& why) {
  return why.code() == Code::Auth || why.code() == Code::NotFound || why.code() == Code::Unsupported ||
         why.code() == Code::Invalid;
}

inline void add_rule_of_others(Seen& seen, std::string text) {
  Json& rules = seen.marks[kRulesOfOthers];
  if (!rules.is_array()) rules = Json::array();
  rules.push_back(std::move(text));
}

}  // namespace radl

// Openings and rules on a machine that radlc neither created nor changes, as text: "default-allow-ssh allows
// tcp 22 from 0.0.0.0/0 (network default)". A refreshing plan notes them.
#pragma once

#include <string>
#include <utility>

#include "runtime/clouds/cloud.h"

namespace radl {

// Key in Seen::marks, which states do not store, and in a refresh's findings (Drift::what). The value is a
// list while tags are texts, so a tag of that name cannot be confused with it.
inline constexpr const char* kRulesOfOthers = "rules of others";

// True if a plan may continue without these rules and note that they are unknown: the credentials lack
// permission, or the service lacks the request.
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

// A machine's tags: those that the file asks for (the field "tags" of its spec, name -> value) are radlc's;
// those that somebody else put on it, by hand or by a rule of the account, are no part of the file and stay.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace radl {

// `shown`, what a look shows of a spec, with only the tags that `asked` names.
nlohmann::json with_tags_of(const nlohmann::json& asked, nlohmann::json shown);

// `wanted`, as a cloud is asked to change a machine to it: the tags that `before` names and `wanted` lacks
// are null, which is "take it away".
nlohmann::json with_tags_to_take_away(const nlohmann::json& before, nlohmann::json wanted);

}  // namespace radl

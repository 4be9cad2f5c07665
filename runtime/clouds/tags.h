// A machine's tags: radlc manages those that the file requests (the field "tags" of its spec, name -> value).
// Tags added by others, manually or by an account rule, are not part of the file and stay.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace radl {

// `shown`, the observed spec, reduced to the tags named in `asked`.
nlohmann::json with_tags_of(const nlohmann::json& asked, nlohmann::json shown);

// `wanted`, as the target of a change request: tags present in `before` but missing in `wanted` are null,
// which means delete.
nlohmann::json with_tags_to_take_away(const nlohmann::json& before, nlohmann::json wanted);

}  // namespace radl

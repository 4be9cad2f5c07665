// Members of a training, from what its step says of them (docs/ir.md, "Training steps"). Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace radl {

// Whether another member takes over from a lost chief: in the modes without servers, another worker; with
// several servers, one of those.
bool has_succession(const nlohmann::json& training);
// Whether a training can continue without this one of its nodes: it has workers only, and no chief that has
// no successor.
bool has_workers_only(const nlohmann::json& training, const std::string& node);
// Whether a training that runs continues without these of its nodes: they have workers only, and a worker
// stays on another node.
bool continues_without(const nlohmann::json& training, const std::vector<std::string>& nodes);
// What a training that runs must have in common with this one so that the workers of this one can join it:
// all but its workers, and where its results go.
nlohmann::json common_to_workers(nlohmann::json training);

}  // namespace radl

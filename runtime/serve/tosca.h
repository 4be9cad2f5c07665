// Converts TOSCA Simple Profile documents to RADL: the node types of Infrastructure Manager templates.
//
//   tosca.nodes[.indigo].Compute      a system, with host, os, scalable and endpoint
//   tosca.nodes.SoftwareComponent,    a recipe on its host: the roles of its AnsibleGalaxy artifacts, with
//   tosca.nodes.indigo.*              the inputs of its interface as variables
//
// Inputs use their defaults. Playbooks referenced by URL are not fetched.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/status.h"

namespace radl::serve {

// RADL text. Invalid: not a TOSCA document. Unsupported: a part without an equivalent; names its position.
Result<std::string> tosca_to_radl(const std::string& tosca);

// An attribute of the machine `index` of a system: "public_address", "private_address". nullopt: unknown.
using ToscaAttribute = std::function<std::optional<nlohmann::json>(const std::string& system,
                                                                   const std::string& name, size_t index)>;
// The document's outputs; null for values not known yet. Errors as above.
Result<nlohmann::json> tosca_outputs(const std::string& tosca, const ToscaAttribute& attribute);

}  // namespace radl::serve

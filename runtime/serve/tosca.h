// TOSCA Simple Profile documents as RADL: the node types that templates for the Infrastructure Manager use.
//
//   tosca.nodes[.indigo].Compute      a system, with host, os, scalable and endpoint
//   tosca.nodes.SoftwareComponent,    a recipe on its host: the roles of its AnsibleGalaxy artifacts, with
//   tosca.nodes.indigo.*              the inputs of its interface as variables
//
// Inputs take their defaults. Playbooks that a template names by URL are not fetched.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/status.h"

namespace radl::serve {

// RADL text. Invalid: not a TOSCA document. Unsupported: what in it has no form here, by its place.
Result<std::string> tosca_to_radl(const std::string& tosca);

// An attribute of the machine `index` of a system: "public_address", "private_address". Nothing: not known.
using ToscaAttribute = std::function<std::optional<nlohmann::json>(const std::string& system,
                                                                   const std::string& name, size_t index)>;
// The outputs of the document; what is not known yet is null. Errors as above.
Result<nlohmann::json> tosca_outputs(const std::string& tosca, const ToscaAttribute& attribute);

}  // namespace radl::serve

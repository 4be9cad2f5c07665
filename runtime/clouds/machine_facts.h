// Facts of a machine, and whether they are what a file asks for.
//
// Facts: {cpu_count, memory_bytes, gpu_count, gpu_memory_bytes (the smallest; 0: unknown), gpu_vendor,
// gpu_model, architecture, os, os_flavour, os_version, disk_bytes (the root file system), disk_free_bytes,
// disks: [{name, bytes}], hostname, user, home, address (of the machine's own interface), sudo ("root",
// "passwordless", "password": it asks for one, "no")}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

using Json = nlohmann::json;

// The node's requirements that facts can verify: {"cpu.count": {"min": 4}, ...}.
Json checked_requirements(const ir::Node& node);
bool is_checked(const std::string& feature);

// "cpu.count >= 4: it has 2", one for each unmet requirement.
std::vector<std::string> unmet(const Json& requirements, const Json& facts);
std::string unmet_text(const std::vector<std::string>& unmet);  // all of them, in one line
// The requirements, with unmet ones replaced by the actual value: {"cpu.count": {"found": 2}}.
Json as_observed(const Json& requirements, const Json& facts);

}  // namespace radl

// The GPUs of this computer, which all of its nodes see.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl::local {

// As `nvidia-smi` shows them, by the names of runtime/clouds/machine_facts.h: {gpu_count, gpu_memory_bytes,
// gpu_vendor, gpu_model}. Where there are none: {gpu_count: 0} and, where nvidia-smi is there, what it says
// as "trouble". Waits for nvidia-smi, 20 seconds at most, or until `stop`.
nlohmann::json gpus_of_this_computer(const Environment& environment, const Stop& stop);
// The same of what nvidia-smi has answered: a line "MEBIBYTES, NAME" for each.
nlohmann::json gpus_in(const std::string& answer);

bool asks_for_gpus(const ir::Node& node);
// Invalid: they are not what the node asks for.
Status check_gpus(const ir::Node& node, const nlohmann::json& gpus);

}  // namespace radl::local

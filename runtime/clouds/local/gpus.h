// The GPUs of this computer, visible to all its nodes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl::local {

// The GPUs shown by `nvidia-smi`, in the format of runtime/clouds/machine_facts.h: {gpu_count,
// gpu_memory_bytes, gpu_vendor, gpu_model}. Without GPUs: {gpu_count: 0} plus, if nvidia-smi failed, its
// message as "trouble". Waits up to 20 seconds for nvidia-smi, or until `stop`.
nlohmann::json gpus_of_this_computer(const Environment& environment, const Stop& stop);
// Same from the output of nvidia-smi: a line "MEBIBYTES, NAME" per GPU.
nlohmann::json gpus_in(const std::string& answer);

bool asks_for_gpus(const ir::Node& node);
// Invalid: they do not meet the node's requirements.
Status check_gpus(const ir::Node& node, const nlohmann::json& gpus);

}  // namespace radl::local

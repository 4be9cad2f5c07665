// Monitors services that radlc keeps running on a node (`service`) while a job runs there, and reports a
// stopped one immediately, whatever its cluster does about it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl::jobs {

std::vector<std::string> services_on(const ir::Program& program, const std::string& node);
// From a step's definition in the state.
std::vector<std::string> services_in(const nlohmann::json& definition);

// Shell text with the function `services NAME...`, which prints a line "service NAME STATE" for each.
extern const char* const kServicesScript;
// The names as arguments for it.
std::string service_words(const std::vector<std::string>& names);

// Detects changes of a node's services. Not thread-safe.
class ServiceWatch {
 public:
  // Processes a line of `services`: returns a message if one stopped or runs again; nullopt: nothing new.
  std::optional<std::string> take(const std::string& line);

 private:
  std::map<std::string, bool> runs_;
};

}  // namespace radl::jobs

// Services that radlc is to keep running on a node (`service`), looked at while a job runs there:
// one that is gone is said at once, whatever its cluster makes of it later.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl::jobs {

std::vector<std::string> services_on(const ir::Program& program, const std::string& node);
// Of a step's definition, as the state keeps it.
std::vector<std::string> services_in(const nlohmann::json& definition);

// Shell text with the function `services NAME...`, which prints a line for each: "service NAME STATE".
extern const char* const kServicesScript;
// The names as words for it.
std::string service_words(const std::vector<std::string>& names);

// The news of the services of one node. Not thread-safe.
class ServiceWatch {
 public:
  // A line of `services`: a message when one does not run, or runs again; nullopt: nothing new.
  std::optional<std::string> take(const std::string& line);

 private:
  std::map<std::string, bool> runs_;
};

}  // namespace radl::jobs

// Describes failed members: how each ended, and the last lines of its log.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/jobs/process_script.h"

namespace radl::program {

struct FailedMember {
  jobs::Member* member = nullptr;
  std::string process;  // as in file names
  int exit = -1;
};

using jobs::end_text;

// `failed`: not empty; the first failure comes first and determines the hint. `shown`: returns the last lines
// of a log, masked.
Status failure_of(const Json& program, const std::vector<FailedMember>& failed,
                  const std::function<std::string(const std::string& log, int lines)>& shown);

}  // namespace radl::program

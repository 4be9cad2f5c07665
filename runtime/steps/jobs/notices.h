// Checks on a node, with its own tools (curl, else Python), whether its cloud is preempting it, while a
// process follows a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/eviction_notice.h"

namespace radl::jobs {

// The code of a step whose machine is being preempted: it is not retried there.
inline constexpr Code kTakenBack = Code::Conflict;

// Shell text: a loop that polls as `spec` says while its shell lives, to be run in the background. Prints a
// line for each changed response; "" if there is nothing to poll.
std::string notice_script(const NoticeSpec& spec);

struct NoticeLine {
  bool cannot = false;  // the node has no tool for it
  std::string answer;   // otherwise
};
// Parses a line of that loop; nullopt: not one.
std::optional<NoticeLine> read_notice(std::string_view line);

}  // namespace radl::jobs

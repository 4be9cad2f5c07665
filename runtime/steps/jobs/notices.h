// Whether a node's cloud takes it back: asked on the node by what it has there (curl, else Python), while
// somebody follows a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/eviction_notice.h"

namespace radl::jobs {

// How a step ends whose machine is taken back: it is not tried again there.
inline constexpr Code kTakenBack = Code::Conflict;

// Shell text: a loop that asks as `spec` says as long as its shell lives, to be run in the background. It
// prints a line for each answer that is another than the last one; "" where nobody is to be asked.
std::string notice_script(const NoticeSpec& spec);

struct NoticeLine {
  bool cannot = false;  // the node has nothing to ask with
  std::string answer;   // otherwise
};
// A line of that loop; nullopt: it is none.
std::optional<NoticeLine> read_notice(std::string_view line);

}  // namespace radl::jobs

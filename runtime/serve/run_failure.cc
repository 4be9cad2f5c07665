#include "runtime/serve/run_failure.h"

#include <string>
#include <utility>

namespace radl::serve {

Status failure_of(const RunReport& report) {
  if (report.status.ok()) return {};
  std::string text;
  for (const ActionOutcome& action : report.actions)
    if (!action.status.ok() && action.state == ActionOutcome::State::Failed)
      text += (text.empty() ? "" : "\n") + action.told().text();
  return text.empty() ? report.status : Status(report.status.code(), std::move(text));
}

}  // namespace radl::serve

// A run's first look at all nodes of its job.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/member.h"

namespace radl::jobs {

// Inspects every node of a job. For an unreachable node that `may_be_missed`, sets the reason in
// `unreachable`.
inline Status look_at_all(const std::vector<std::unique_ptr<Member>>& members, const std::string& script,
                          const std::function<bool(size_t node)>& may_be_missed,
                          std::vector<Member::Look>& looks, std::vector<Status>& unreachable) {
  looks.resize(members.size());
  unreachable.resize(members.size());
  return for_all(members.size(), [&](size_t i) -> Status {
    auto look = members[i]->look(script);
    const Code code = look.status().code();
    const bool out_of_reach =
        code == Code::Lost || code == Code::Retry || code == Code::Timeout || code == Code::NotFound;
    if (look)
      looks[i] = std::move(*look);
    else if (out_of_reach && may_be_missed(i))
      unreachable[i] = look.status();
    else
      return look.status();
    return {};
  });
}

}  // namespace radl::jobs

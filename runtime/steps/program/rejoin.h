// Finds the members of a running program on its nodes when a run joins it; helpers for following them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/following.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/look_at_all.h"
#include "runtime/steps/program/failure.h"
#include "runtime/steps/program/verdict.h"

namespace radl::program {

using Members = std::vector<std::unique_ptr<jobs::Member>>;

// Serializes a context's emit: members report on their own threads.
inline StepContext one_at_a_time(const StepContext& context, std::mutex& mutex) {
  StepContext made = context;
  made.emit = [&context, &mutex](const StepEvent& event) {
    std::lock_guard lock(mutex);
    context.emit(event);
  };
  return made;
}

// Nodes that a program is joined without: those whose members must still be started, and missing
// ones.
struct Absent {
  std::set<size_t> arriving;
  std::map<size_t, Status> missed;  // and why
};
inline Absent absent_of(const Left& left, const Members& members, const std::vector<Status>& unreachable) {
  Absent absent;
  for (size_t i : left.without) {
    if (left.running && unreachable[i].ok())
      absent.arriving.insert(i);
    else if (unreachable[i].ok())
      absent.missed[i] = Status(Code::Lost, members[i]->address() + ": never ran a member");
    else
      absent.missed[i] = unreachable[i];
  }
  return absent;
}

// True if `radlc cancel` was called on any followed node. Lost: a node cannot tell.
inline Result<bool> was_cancelled(const Members& members, const jobs::Following& following) {
  std::atomic<bool> any{false};
  Status asked = jobs::for_all(members.size(), [&](size_t i) -> Status {
    if (following.is_lost(i)) return {};
    auto one = members[i]->was_cancelled();
    if (one && *one) any = true;
    return one.status();
  });
  if (any || asked.ok()) return any.load();
  return Status(Code::Lost, asked.message());
}

// `bad`: failed members, the first failure first. If there are none: members of lost nodes, whose end is
// unknown.
inline std::vector<FailedMember> failed_members(const Members& members,
                                                const std::vector<jobs::Process>& processes,
                                                const jobs::Ends& ends, const std::vector<size_t>& bad) {
  std::vector<FailedMember> failed;
  auto add = [&](size_t i) {
    auto end = ends.find(processes[i].name);
    failed.push_back({members[i].get(), processes[i].name, end == ends.end() ? -1 : end->second});
  };
  for (size_t i : bad) add(i);
  for (size_t i = 0; i < processes.size() && bad.empty(); ++i) {
    auto end = ends.find(processes[i].name);
    if (end != ends.end() && end->second != 0) add(i);
  }
  return failed;
}

// The metric "member" (docs/runs.md).
inline Json member_metric(const jobs::Usage& usage) {
  Json data = {{"event", "member"},
               {"processors", usage.processors},
               {"memory_bytes", usage.memory_bytes},
               {"received", usage.received},
               {"sent", usage.sent}};
  if (usage.gpu) data["gpu"] = *usage.gpu;
  if (usage.stopped > 0) data["stopped"] = usage.stopped;
  return data;
}

}  // namespace radl::program

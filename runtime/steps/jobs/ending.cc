#include "runtime/steps/jobs/ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/authorized_keys.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/tree.h"

namespace radl::jobs {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

std::vector<std::string> running_in(const Member::Look& look) {
  std::vector<std::string> names;
  for (const auto& [name, state] : look.processes) {
    if (state.phase == ProcessState::Phase::Running) names.push_back(name);
  }
  return names;
}

// By their signal, within the grace.
Status ask_to_end(Member& member, const std::vector<std::string>& names, const Manner& manner,
                  const Stop& stop) {
  // First, so that a supervisor of the job does not restart it.
  Status asked = member.put_bytes("", "cancelled", {}, 0600);
  if (asked.ok()) asked = member.signal(names, manner.signal.c_str());
  if (!asked.ok()) return asked;
  const Stop until = stop.within(manner.grace);
  while (until.sleep(kBetweenLooks)) {
    auto look = member.look();
    if (!look) return look.status();
    if (running_in(*look).empty()) break;
  }
  return {};
}

}  // namespace

std::string remove_key_script(const std::string& job) {
  // Most jobs have no key.
  return fmt::format("if grep -q ' radlc-{0}$' ~/.ssh/authorized_keys 2>/dev/null; then\n{1}fi\n", job,
                     edit_authorized_keys(job, ""));
}

Result<bool> end_job(Member& member, const Manner& manner, const Stop& stop) {
  auto look = member.look();
  if (!look) return look.status();
  const std::vector<std::string> names = running_in(*look);
  if (!names.empty()) {
    if (Status asked = ask_to_end(member, names, manner, stop); !asked.ok()) return asked;
  }
  // What has lost its shell, and what was started from another node, is known by the job's mark alone.
  if (Status killed = member.end_all(); !killed.ok()) return killed;
  auto after = member.look();
  if (!after) return after.status();
  if (const auto left = running_in(*after); !left.empty())
    return Status(Code::Conflict, fmt::format("{}: {} of {} could not be ended", member.address(),
                                              fmt::join(left, ", "), member.folder()));
  // The end of its processes must never count as the job's own end.
  if (Status forgotten = member.forget_run(); !forgotten.ok()) return forgotten;
  auto removed = member.exec(remove_key_script(member.job()));
  if (!removed) return removed.status();
  if (removed->exit_status != 0)
    return std::move(ssh::command_failure(*removed, "~/.ssh/authorized_keys")).at(member.address());
  return !names.empty();
}

Status end_earlier(const std::vector<std::unique_ptr<Member>>& members,
                   const std::vector<Member::Look>& looks, const Manner& manner, const Stop& stop) {
  return for_all(members.size(), [&](size_t i) {
    return looks[i].runs() ? end_job(*members[i], manner, stop).status() : Status();
  });
}

Status remove_job(Member& member) {
  auto removed = member.exec(fmt::format("chmod -R u+rwX {0} 2>/dev/null\nrm -rf {0} || exit 1\n{1}",
                                         shell_path(member.folder()), remove_unused_trees_script()));
  if (!removed) return removed.status();
  return removed->exit_status == 0
             ? Status()
             : std::move(ssh::command_failure(*removed, member.folder())).at(member.address());
}

}  // namespace radl::jobs

#include "runtime/exec/job_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/ir/elastic_farm.h"
#include "runtime/exec/retry.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"

namespace radl {

namespace {

bool may_run_on(const JobFolder& folder, const std::string& node) {
  return std::find(folder.may_run.begin(), folder.may_run.end(), node) != folder.may_run.end();
}

// The nodes of a folder that still are the ones that it is on. A node that is not in the file any more is
// being removed, and the folder with it: it is of interest only where something may run.
std::vector<std::string> nodes_there(Execution& execution, const JobFolder& folder) {
  std::vector<std::string> there;
  for (const auto& [address, id] : folder.nodes) {
    const std::optional<ResourceRecord> node = execution.resource(address);
    const bool stays = execution.node(address) != nullptr || may_run_on(folder, address);
    if (node && node->id == id && stays) there.push_back(address);
  }
  return there;
}

// One folder on some of its nodes, side by side. `remove`: the folder goes as well.
class FolderEnding {
 public:
  FolderEnding(Execution& execution, const Context& context, const std::string& step, const JobFolder& folder,
               const std::string& signal)
      : execution_(execution), context_(context), step_(step), folder_(folder) {
    manner_.signal = signal;
    manner_.grace = std::chrono::milliseconds(static_cast<long long>(folder.grace_seconds * 1000));
  }

  Status run(const std::vector<std::string>& nodes, bool remove) {
    return jobs::for_all(nodes.size(), [&](size_t i) { return end_on(nodes[i], remove); });
  }

 private:
  Status end_on(const std::string& address, bool remove) {
    const NodeHandle node = execution_.handle(address, context_.stop);
    jobs::Member member(node, context_, folder_.name);
    const bool may_run = may_run_on(folder_, address);
    if (may_run) {
      auto ran = jobs::end_job(member, manner_, context_.stop);
      if (!ran.ok())
        return Status(ran.status().code(), fmt::format("{}: what may still run in {} cannot be ended: {}",
                                                       address, member.folder(), ran.status().message()));
      if (*ran) tell(address, fmt::format("ended what still ran in {}", member.folder()));
    }
    if (!remove) return {};
    Status removed = jobs::remove_job(member);
    // It only uses disk space.
    if (!removed.ok() && !may_run) return tell(address, removed.message()), Status();
    return removed;
  }

  void tell(const std::string& node, const std::string& what) {
    Event event;
    event.kind = EventKind::Task;
    event.id = step_;
    event.node = node;
    event.data = {{"name", what}, {"state", "ok"}, {"seconds", 0}, {"notice", true}};
    execution_.events.emit(std::move(event));
  }

  Execution& execution_;
  const Context& context_;
  const std::string& step_;
  const JobFolder& folder_;
  jobs::Manner manner_;
};

bool is_for(const ir::Step& step, const std::string& node) {
  return std::find(step.nodes.begin(), step.nodes.end(), node) != step.nodes.end();
}

// TERM to one worker would end the whole training.
constexpr const char* kLeaves = "KILL";

// Its own folder on nodes that it is not for any more. `joins`: its other members continue. Idle nodes of an
// elastic farm are removed meanwhile, and the folder with them.
Status leave_nodes(Execution& execution, const Context& context, const ir::Step& step, bool joins,
                   JobFolder& folder) {
  std::vector<std::string> left;
  for (const std::string& address : nodes_there(execution, folder)) {
    const bool goes = ir::has_elastic_farm(step) && execution.node(address) == nullptr;
    if (!is_for(step, address) && !goes) left.push_back(address);
  }
  const bool alone = joins && step.kind == ir::StepKind::Training;
  Status ended =
      FolderEnding(execution, context, step.id, folder, alone ? kLeaves : folder.signal).run(left, true);
  if (!ended.ok()) return ended;
  std::erase_if(folder.nodes, [&](const auto& node) { return !is_for(step, node.first); });
  std::erase_if(folder.may_run, [&](const std::string& node) { return !is_for(step, node); });
  return {};
}

}  // namespace

std::vector<JobFolder> with_folder_of(const ir::Step& step, const StepRecord& record,
                                      std::vector<JobFolder> before) {
  JobFolder folder;
  folder.name = jobs::folder_of(step);
  if (step.kind == ir::StepKind::Program) {
    folder.signal = step.program->value("stop_signal", folder.signal);
    folder.grace_seconds = step.program->value("grace_seconds", folder.grace_seconds);
  }
  auto same =
      std::find_if(before.begin(), before.end(), [&](const auto& each) { return each.name == folder.name; });
  if (same != before.end()) {
    folder.nodes = std::move(same->nodes);
    folder.may_run = std::move(same->may_run);
    before.erase(same);
  }
  // Until the runner has checked, its processes may be on each of its nodes.
  for (const std::string& address : step.nodes) {
    if (auto made = record.made_on.find(address); made != record.made_on.end())
      folder.nodes[address] = made->second;
    if (!may_run_on(folder, address)) folder.may_run.push_back(address);
  }
  before.push_back(std::move(folder));
  return before;
}

Status end_older_folders(Execution& execution, const Context& context, const ir::Step& step, bool joins,
                         std::vector<JobFolder>& folders) {
  constexpr size_t kKept = 2;  // the next run's and the one before it
  for (size_t i = 0; i + 1 < folders.size(); ++i) {
    const bool remove = i + kKept < folders.size();
    Status ended = FolderEnding(execution, context, step.id, folders[i], folders[i].signal)
                       .run(nodes_there(execution, folders[i]), remove);
    if (!ended.ok()) return ended;
    folders[i].may_run.clear();
  }
  if (folders.size() > kKept) folders.erase(folders.begin(), folders.end() - kKept);
  return leave_nodes(execution, context, step, joins, folders.back());
}

Status end_members(Execution& execution, const Context& context, const StepRecord& job,
                   const std::vector<std::string>& nodes) {
  if (job.jobs.empty()) return {};
  FolderEnding ending(execution, context, job.id, job.jobs.back(), kLeaves);
  return jobs::for_all(nodes.size(), [&](size_t i) -> Status {
    Status ended = ending.run({nodes[i]}, false);
    return may_work_later(ended.code()) ? Status() : ended;
  });
}

Status end_all_folders(Execution& execution, const Context& context, const std::string& step,
                       std::vector<JobFolder> folders) {
  for (const JobFolder& folder : folders) {
    Status ended = FolderEnding(execution, context, step, folder, folder.signal)
                       .run(nodes_there(execution, folder), true);
    if (!ended.ok()) return ended;
  }
  return {};
}

}  // namespace radl

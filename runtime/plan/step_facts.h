// What a step depends on, as far as the plan and the executor must agree on it. Used by runtime/exec.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// Digest of the step itself: the IR's digest and the fingerprints of the secrets that it uses.
std::string step_digest(const ir::Step& step, const std::map<std::string, std::string>& secrets);
// What a job that runs must have in common with this one to be joined. For a training, that is all but its
// workers, which may join and leave while it runs.
std::string job_content(const ir::Step& step, const std::map<std::string, std::string>& secrets);
// The steps directly before it on its node, whose work it builds upon. None for a training: only what its own
// digest covers matters for its result.
std::vector<std::string> steps_below(const ir::Step& step,
                                     const std::map<std::string, const ir::Step*>& steps);
// Over the digest and the revisions of the steps below.
std::string step_revision(const std::string& digest, const std::map<std::string, std::string>& below);
// The step without positions, group and edges: what a person would call its content. Secrets by reference.
Json step_definition(const ir::Step& step);
// The step as it was applied last, to be observed on its node: what is found then is drift, and not what the
// file asks for now. Resources that hold a value or secret that is another one now are left out, as the old
// one is not known. nullopt: the record does not tell.
std::optional<ir::Step> applied_step(const StepRecord& record, const Snapshot& snapshot,
                                     const std::map<std::string, std::string>& secrets);
// Where trainings have put models and checkpoints in buckets; nothing that is below another.
std::vector<std::string> bucket_places(const Snapshot& snapshot);
// Where a job's processes may still run: nodes that are the ones that it was started on.
struct LeftRunning {
  std::vector<std::string> newest, older;  // of its newest folder, of those before it
};
LeftRunning left_running(const StepRecord& record, const Snapshot& snapshot);
// Whether a job that runs continues without this node of its own: members of a program with `lost = 'alone'`,
// nodes of an elastic farm and workers of a training may be missing; servers and a chief without a successor
// may not.
bool can_miss(const ir::Step& step, const std::string& node);
// Its folders on nodes that the next run of `step` removes: all but that run's own and the newest before it.
std::vector<const JobFolder*> folders_to_remove(const ir::Step& step, const StepRecord& record);
// "package 'htop', file '/etc/motd'"; "resnet20 on cifar10, async, 1 server and 2 workers".
std::string step_summary(const ir::Step& step);

// Services that a native step keeps running by its record, and that no step of the program has on these nodes
// any more, with or without ".service": they are stopped. Without any that radlc may log in by.
std::vector<std::string> services_left(const StepRecord& record, const ir::Program& program);

}  // namespace radl

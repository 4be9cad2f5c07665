// The jobs (trainings and programs) of an infrastructure, as found on its nodes. Used by `queue` and
// `cancel`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/driver/nodes.h"
#include "runtime/steps/jobs/member.h"

namespace radl::driver {

// A node of a job with its own connection. Must not be moved: `member` points into it.
struct JobNode {
  std::unique_ptr<Remote> remote;
  NodeHandle handle;
  Context context;
  std::unique_ptr<jobs::Member> member;
  Status status;  // of connecting and inspecting
  jobs::Member::Look look;
  bool runs() const;  // true if any process of the job runs
};

// A job as found in one of its folders.
struct JobView {
  const StepRecord* record = nullptr;
  JobFolder folder;
  bool earlier = false;  // of an older version than the record's
  std::vector<std::unique_ptr<JobNode>> nodes;
  bool runs() const;
};

// Logs in to the job's nodes concurrently and inspects them. The first result is the record's version, with
// its nodes in the record's order; then older versions that may still run. Nodes that have not responded at
// `stop` have the status Cancelled.
std::vector<JobView> look_at_job(const Nodes& nodes, const StepRecord& job, const Stop& stop);
// A job by its step's ID or the name at its end; "": the only one. NotFound and Invalid list all.
Result<const StepRecord*> job_called(const Snapshot& state, const std::string& name);
// The trainings and programs in the state.
std::vector<const StepRecord*> jobs_of(const Snapshot& state);

}  // namespace radl::driver

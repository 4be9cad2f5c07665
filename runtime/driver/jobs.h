// The jobs (trainings and programs) of an infrastructure as its nodes have them: what `queue` and `cancel`
// share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/driver/nodes.h"
#include "runtime/steps/jobs/member.h"

namespace radl::driver {

// A node of a job, with its own connection. It must stay where it is: `member` points into it.
struct JobNode {
  std::unique_ptr<Remote> remote;
  NodeHandle handle;
  Context context;
  std::unique_ptr<jobs::Member> member;
  Status status;  // of reaching it and looking
  jobs::Member::Look look;
  bool runs() const;  // any process of the job
};

// A job as one of its folders has it.
struct JobView {
  const StepRecord* record = nullptr;
  JobFolder folder;
  bool earlier = false;  // of a version before the record's
  std::vector<std::unique_ptr<JobNode>> nodes;
  bool runs() const;
};

// Logs in to the job's nodes side by side and looks. The first is the record's own, its nodes in the record's
// order; then earlier versions that may still run. A node that has not answered at `stop` has the status
// Cancelled.
std::vector<JobView> look_at_job(const Nodes& nodes, const StepRecord& job, const Stop& stop);
// By its step's id or the name at the end of it; "": the only one. NotFound and Invalid list what there is.
Result<const StepRecord*> job_called(const Snapshot& state, const std::string& name);
// The trainings and programs that the state knows.
std::vector<const StepRecord*> jobs_of(const Snapshot& state);

}  // namespace radl::driver

// The outputs of a farm's tasks on this computer: brought whole, kept once, published together.
//
// Each arrives in a folder of its attempt. Once its commit is in the journal, that folder gets the task's
// name; a run that was killed in between does it when it starts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/redact.h"
#include "runtime/farm/search.h"
#include "runtime/farm/table.h"
#include "runtime/steps/jobs/member.h"

namespace radl::farm {

class Outputs {
 public:
  // `folder`: of the farm, private. It may exist.
  explicit Outputs(std::string folder) : folder_(std::move(folder)) {}
  // Finishes or removes what an earlier run has left.
  Status adopt(const Table& table);
  std::string arriving(const std::string& task, int attempt) const;
  // The attempt is committed: what it left replaces the task's earlier output. If nothing has arrived, this
  // does nothing.
  Status keep(const std::string& task, int attempt);
  // The task's committed attempt left no output.
  Status remove(const std::string& task);
  std::string kept(const std::string& task) const { return folder_ + "/outputs/" + task; }

 private:
  std::string folder_;
};

// Sends the output that a trial starts from to its node (parent_folder()). If that trial left none, the
// folder is empty.
Status send_parent(jobs::Member& member, const Outputs& outputs, const TaskRecord& task,
                   const Context& context);

// Brings the logs of all attempts on a node, masked, into `logs/` of the farm's folder: they outlive the
// node.
Status keep_logs(jobs::Member& member, const std::string& farm_folder, const Redactor& secrets);

struct Published {
  Json output;                     // the step's product, as that of a program
  std::vector<std::string> notes;  // what a user must know
};

// Puts outputs, logs, `table.json` and `report.json` where the program's results go, a folder or a bucket.
// With a search also `best/`, the output of the best trial. `merge`: a file of each output; those are joined.
// `farm_folder`: private; `lost`: nodes that cannot be asked for logs.
struct ToPublish {
  const Json& program;
  const std::string& step;
  const Table& table;
  const Search* search;
  const Outputs& outputs;
  std::string merge;
  std::string farm_folder;
  double seconds = 0;
};
Result<Published> publish(const ToPublish& what, const std::vector<std::unique_ptr<jobs::Member>>& members,
                          const std::vector<bool>& lost, const Context& context, const Redactor& secrets);

}  // namespace radl::farm

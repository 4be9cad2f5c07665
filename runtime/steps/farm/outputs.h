// Outputs of a farm's tasks on this computer: fetched completely, kept once, published together.
//
// Each arrives in a folder for its attempt. After its commit is in the journal, that folder is renamed to the
// task's; a run that was killed in between does it at the next start.
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
  // Finishes or removes leftovers of an earlier run.
  Status adopt(const Table& table);
  std::string arriving(const std::string& task, int attempt) const;
  // The attempt is committed: its output replaces the task's earlier one. No effect if nothing has
  // arrived.
  Status keep(const std::string& task, int attempt);
  // The task's committed attempt has no output.
  Status remove(const std::string& task);
  std::string kept(const std::string& task) const { return folder_ + "/outputs/" + task; }

 private:
  std::string folder_;
};

// Sends the output that a trial continues from to its node (parent_folder()). The folder is empty if that
// trial has no output.
Status send_parent(jobs::Member& member, const Outputs& outputs, const TaskRecord& task,
                   const Context& context);

// Fetches the masked logs of all attempts on a node to `logs/` in the farm's folder, so that they outlive the
// node.
Status keep_logs(jobs::Member& member, const std::string& farm_folder, const Redactor& secrets);

struct Published {
  Json output;                     // the step's product, like a program's
  std::vector<std::string> notes;  // information for the user
};

// Writes outputs, logs, `table.json` and `report.json` to the program's results, a folder or a bucket. With a
// search also `best/`, the best trial's output. `merge`: a file name; these files of all outputs are joined,
// and `manifest.json` lists them.
// `farm_folder`: private; `lost`: nodes whose logs are unavailable.
struct ToPublish {
  const Json& program;
  const std::string& step;
  const Table& table;
  const Search* search;
  const Outputs& outputs;
  std::string merge;
  std::string farm_folder;
  double seconds = 0;
  size_t images = 0;  // that were listed by address
};
Result<Published> publish(const ToPublish& what, const std::vector<std::unique_ptr<jobs::Member>>& members,
                          const std::vector<bool>& lost, const Context& context, const Redactor& secrets);

}  // namespace radl::farm

// What a program leaves: the results and logs of its members, brought to this computer (and on to a bucket),
// its numbers, and a report.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/redact.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/program/metrics.h"

namespace radl::program {

// What the runner saw of the run.
struct ProgramFacts {
  int exit_status = 0;  // of the chief
  int attempts = 1;
  std::vector<int> restarts;             // of each member by itself
  std::vector<int> ends;                 // exit status of each, -1: killed or lost
  std::map<std::string, double> phases;  // wall seconds
};

struct Collected {
  Json output;                       // the step's product (docs/ir.md)
  std::vector<std::string> missing;  // outputs that the chief did not leave
  std::vector<std::string> notes;    // what a user must know of the results
};

// Whether the folder of this computer that results go to can take them (training/result_folder.h); Conflict
// when it holds files of somebody else, which they might take the place of. To be asked before the program
// starts.
Status check_results_folder(const Json& program);
// Files of the user's in a folder of ours whose place results may take (training/result_folder.h).
std::vector<std::string> users_results(const Json& program);

// `program`: docs/ir.md. `scratch`: a folder of this computer for what goes to a bucket. `step`: its id.
// `lost`: members that cannot be asked. Secrets are masked in logs; what is in the results is the program's.
Result<Collected> collect_results(const Json& program,
                                  const std::vector<std::unique_ptr<jobs::Member>>& members,
                                  const std::vector<bool>& lost, const ProgramFacts& facts,
                                  const std::string& scratch, const std::string& step, const Context& context,
                                  const Redactor& secrets);

// After a failure the logs alone, of the first `running` members: the step's log holds only a part of what
// they printed. They go where the results go, in which nothing else changes; of a bucket to `scratch`.
// Returns their folder; `notes` gets what a user must know.
Result<std::string> collect_logs(const Json& program,
                                 const std::vector<std::unique_ptr<jobs::Member>>& members,
                                 const std::vector<bool>& lost, size_t running, const std::string& scratch,
                                 const std::string& step, const Redactor& secrets,
                                 std::vector<std::string>& notes);

// A process of member i, as in file names.
std::string process_name(size_t member);

}  // namespace radl::program

// A program's results: outputs and logs of its members, fetched to this computer (and forwarded to a bucket),
// its metrics, and a report.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/redact.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/program/metrics.h"

namespace radl::program {

// Facts about the run collected by the runner.
struct ProgramFacts {
  int exit_status = 0;  // of the chief
  int attempts = 1;
  std::vector<int> restarts;             // of each member individually
  std::vector<int> ends;                 // exit status of each; -1: killed or lost
  std::map<std::string, double> phases;  // wall-clock seconds
};

struct Collected {
  Json output;                       // the step's product (docs/ir.md)
  std::vector<std::string> missing;  // outputs that the chief did not write
  std::vector<std::string> notes;    // information about the results for the user
};

// Ok if the local results folder can be used (training/result_folder.h); Conflict if
// it contains foreign files that results might replace. Call before the program
// starts.
Status check_results_folder(const Json& program);
// The user's files in a results folder that results may displace (training/result_folder.h).
std::vector<std::string> users_results(const Json& program);

// `program`: docs/ir.md. `scratch`: a local folder for data on its way to a bucket. `step`: its ID. `lost`:
// members that cannot respond. Masks secrets in logs; the content of results is up to the program.
Result<Collected> collect_results(const Json& program,
                                  const std::vector<std::unique_ptr<jobs::Member>>& members,
                                  const std::vector<bool>& lost, const ProgramFacts& facts,
                                  const std::string& scratch, const std::string& step, const Context& context,
                                  const Redactor& secrets);

// After a failure, fetches only the logs of the first `running` members, because the step's log has only a
// part of their output. They are stored with the results, which stay otherwise unchanged, or in `scratch` for
// a bucket. Returns their folder; `notes` receives information for the user.
Result<std::string> collect_logs(const Json& program,
                                 const std::vector<std::unique_ptr<jobs::Member>>& members,
                                 const std::vector<bool>& lost, size_t running, const std::string& scratch,
                                 const std::string& step, const Redactor& secrets,
                                 std::vector<std::string>& notes);

// The process of member i, as in file names.
std::string process_name(size_t member);

}  // namespace radl::program

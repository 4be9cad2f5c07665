// Starts a program's members: where each listens, the scripts that become them.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/program/launch.h"
#include "runtime/steps/program/preparing.h"

namespace radl::program {

// Of the job on a node, absolute.
std::string job_folder(const jobs::Member::Look& look, const jobs::Member& member);

class Starting {
 public:
  using Looks = std::vector<jobs::Member::Look>;
  // All outlive it. `running`: so many nodes run a member; each of the others has a process that does nothing
  // and ends with its node.
  Starting(const Json& program, const std::vector<NodeHandle>& nodes,
           const std::vector<std::unique_ptr<jobs::Member>>& members, const Preparing& preparing,
           const Context& context, size_t running)
      : program_(program),
        nodes_(nodes),
        members_(members),
        preparing_(preparing),
        context_(context),
        running_(running) {}

  // The name of a node's process, as in file names.
  std::string process(size_t node) const;
  // All members, as an attempt of this run.
  Status begin(const Looks& looks, const std::string& run, int attempt);
  // Members that run already; again() may be called for one that ends. `arriving`: nodes whose members are
  // yet to be started, by again(): they get new places.
  Status join(const Looks& looks, const std::set<size_t>& arriving);
  // A member alone, while the others go on. Only that node is asked: others may be lost. May be called for
  // several at once.
  Status again(size_t node);

 private:
  // Its name, below the job's folder, and its text.
  std::string script_file(size_t node) const { return "run-" + process(node); }
  std::string script(size_t node) const;
  // With its script, which is there, or comes soon (Member::put_soon).
  Status start(size_t node);
  Result<bool> has_checkpoints(size_t node) const;
  // Whether any member has checkpoints: all get the same arguments.
  Status look_for_checkpoints();
  void choose_places();
  Place choose_place(size_t node) const;
  std::string places_text() const;
  MemberSetting setting_of(size_t node) const;
  Status put_for_launchers(size_t node);

  const Json& program_;
  const std::vector<NodeHandle>& nodes_;
  const std::vector<std::unique_ptr<jobs::Member>>& members_;
  const Preparing& preparing_;
  const Context& context_;
  const size_t running_;
  Looks looks_;
  std::vector<Place> places_;
  int attempt_ = 1;
  std::atomic<bool> resumes_{false};  // also once a member that is started again has checkpoints
};

}  // namespace radl::program

// Starts a program's members: chooses their addresses and ports, and writes their scripts.
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

// The job's folder on a node, absolute.
std::string job_folder(const jobs::Member::Look& look, const jobs::Member& member);

class Starting {
 public:
  using Looks = std::vector<jobs::Member::Look>;
  // All arguments must outlive this object. `running`: number of nodes with a member; each other node has a
  // placeholder process that ends with its node.
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
  // Starts all members, as an attempt of this run.
  Status begin(const Looks& looks, const std::string& run, int attempt);
  // Joins running members; again() may be called for one that ends. `arriving`: nodes whose members again()
  // must still start, in new places.
  Status join(const Looks& looks, const std::set<size_t>& arriving);
  // Restarts a single member while the others continue. Contacts only that node, since others may be lost.
  // May be called concurrently.
  Status again(size_t node);

 private:
  // Its name, below the job's folder, and its text.
  std::string script_file(size_t node) const { return "run-" + process(node); }
  std::string script(size_t node) const;
  // Starts it with its script, which exists or will soon (Member::put_soon).
  Status start(size_t node);
  Result<bool> has_checkpoints(size_t node) const;
  // Checks whether any member has checkpoints: all get the same arguments.
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
  std::atomic<bool> resumes_{false};  // also set when a restarted member has checkpoints
};

}  // namespace radl::program

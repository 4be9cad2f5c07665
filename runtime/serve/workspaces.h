// The infrastructures of the service's own API, by their ids.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/serve/workspace.h"

namespace radl::serve {

class Workspaces {
 public:
  // FOLDER/workspaces/ID each; those that are there are opened. Notes say what could not be opened.
  static Result<std::unique_ptr<Workspaces>> open(const Settings& settings, const std::string& folder,
                                                  std::vector<std::string>& notes);
  // Ends all runs well; none begins afterwards.
  void stop();

  std::vector<std::shared_ptr<Workspace>> all() const;  // the oldest first
  // By its id, or that of one of its runs or plans, which begin with it. NotFound.
  Result<std::shared_ptr<Workspace>> find(const std::string& id) const;
  // Invalid: the name is not one of letters, digits and `-`.
  Result<std::shared_ptr<Workspace>> create(const std::string& name, const std::string& owner);
  // Removes it with its results. Conflict: something of it exists, or a run goes on.
  Status remove(const std::string& id);

 private:
  Workspaces(const Settings& settings, std::string folder)
      : settings_(settings), folder_(std::move(folder)) {}

  const Settings settings_;
  const std::string folder_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Workspace>> all_;
  bool stopping_ = false;
};

}  // namespace radl::serve

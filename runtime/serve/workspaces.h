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
  // FOLDER/workspaces/ID each; those that are there are opened. Notes say what could not be opened. `most`:
  // of one user. `users` outlives it.
  static Result<std::unique_ptr<Workspaces>> open(Users& users, const std::string& folder, size_t most,
                                                  std::vector<std::string>& notes);
  // Of all, also of those that are created later; before recover().
  void listen(Workspace::Listener listener);
  // Continues the runs that an earlier service's end cut off.
  void recover();
  // Ends all runs well; none begins afterwards.
  void stop();

  std::vector<std::shared_ptr<Workspace>> all() const;  // the oldest first
  // By its id. NotFound.
  Result<std::shared_ptr<Workspace>> find(const std::string& id) const;
  // By the id of one of its runs or plans: ID-REST. NotFound.
  Result<std::shared_ptr<Workspace>> find_of(const std::string& part) const;
  // Invalid: the name is not one of letters, digits and `-`. Quota: the user has as many as allowed.
  // `temporary`: as Workspace::create().
  Result<std::shared_ptr<Workspace>> create(const std::string& name, const std::string& owner,
                                            bool temporary);
  // Removes it with its results. Conflict: something of it exists, or a run is in progress. Auth: `may_apply`
  // is false, and it is not a draft.
  Status remove(const std::string& id, bool may_apply);

 private:
  Workspaces(Users& users, std::string folder, size_t most)
      : users_(users), folder_(std::move(folder)), most_(most) {}
  size_t count_of(const std::string& owner) const;
  void remove_old_drafts(const std::string& owner);

  Users& users_;
  const std::string folder_;
  const size_t most_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Workspace>> all_;
  bool stopping_ = false;
  Workspace::Listener listener_;
};

}  // namespace radl::serve

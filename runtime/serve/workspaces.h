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
  // Opens all FOLDER/workspaces/ID. Notes list those that could not be opened. `most`: per user. `users` must
  // outlive the result.
  static Result<std::unique_ptr<Workspaces>> open(Users& users, const std::string& folder, size_t most,
                                                  std::vector<std::string>& notes);
  // Listens to all workspaces, including later ones. Call before recover().
  void listen(Workspace::Listener listener);
  // Continues runs that the end of an earlier service interrupted.
  void recover();
  // Ends all runs gracefully; none starts afterwards.
  void stop();

  std::vector<std::shared_ptr<Workspace>> all() const;  // oldest first
  struct Unreadable {
    std::string id, why;
  };
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }  // could not be opened
  // By its id. NotFound.
  Result<std::shared_ptr<Workspace>> find(const std::string& id) const;
  // By the id of one of its runs or plans, ID-REST. NotFound.
  Result<std::shared_ptr<Workspace>> find_of(const std::string& part) const;
  // Invalid: the name contains other characters than letters, digits and `-`. Quota: the user has too many.
  // `temporary`: as in Workspace::create().
  Result<std::shared_ptr<Workspace>> create(const std::string& name, const std::string& owner,
                                            bool temporary);
  // Removes the workspace with its results. Conflict: some of its resources exist, or a run is active. Auth:
  // `may_apply` is false, and it is not a draft.
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
  std::vector<Unreadable> unreadable_;
  bool stopping_ = false;
  Workspace::Listener listener_;
};

}  // namespace radl::serve

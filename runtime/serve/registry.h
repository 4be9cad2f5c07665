// The infrastructures of the service, by their ids.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/serve/infrastructure.h"
#include "runtime/serve/users.h"

namespace radl::serve {

// What /stats says of an infrastructure, also after it has gone.
struct InfrastructureFacts {
  std::string id, owner;
  double created = 0;  // wall seconds
  bool deleted = false;
  Json figures = Json::object();  // creation_date, last_date, vm_count, ...
};

class Registry {
 public:
  // FOLDER/infrastructures/ID each; those that are there are opened. Notes say what could not be opened.
  static Result<std::unique_ptr<Registry>> open(Users& users, const std::string& folder,
                                                std::vector<std::string>& notes);

  // Ends all runs well; none begins afterwards.
  void stop();

  std::vector<std::shared_ptr<Infrastructure>> all() const;  // by begin
  // NotFound; with "Deleted infrastructure." for one that was here since the service began.
  Result<std::shared_ptr<Infrastructure>> find(const std::string& id) const;
  Result<std::shared_ptr<Infrastructure>> create(const std::string& owner);
  // What Infrastructure::exported() gave, which must be trusted. Conflict: it is here already.
  Result<std::shared_ptr<Infrastructure>> take(const std::string& exported, const std::string& owner);
  size_t count_of(const std::string& owner) const;
  std::vector<InfrastructureFacts> facts() const;
  // The program of a document, of which nothing is created. Invalid: it does not compile.
  Result<ir::Program> compiled(const Document& document, const std::string& user) const;
  std::string default_cloud() const { return settings_.cloud.empty() ? "local" : settings_.cloud; }
  // The accounts that a request uses (Users::accounts()).
  Result<std::string> accounts(const Caller& caller, const std::string& sent) const {
    return users_.accounts(caller, sent);
  }
  Settings settings_of(const Caller& caller) const { return users_.of(caller.user); }
  // Forgets it, and removes its folder.
  Status remove(const std::string& id);
  // The same once `over` has succeeded; meanwhile it is here, and it stays if that fails.
  void remove_after(const std::shared_ptr<Infrastructure>& one, std::shared_future<Status> over);

 private:
  Registry(Users& users, std::string folder)
      : users_(users), settings_(users.own()), folder_(std::move(folder)) {}
  std::string folder_of(const std::string& id) const { return folder_ + "/" + id; }
  void note_deleted(const Infrastructure& one) const;

  Users& users_;
  const Settings settings_;   // of the service's own user
  const std::string folder_;  // of infrastructures
  std::string deleted_file() const { return folder_ + "/../deleted.jsonl"; }
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Infrastructure>> all_;
  bool stopping_ = false;
  std::vector<std::string> removed_;        // the last ones
  std::vector<std::future<void>> waiting_;  // of remove_after()
};

}  // namespace radl::serve

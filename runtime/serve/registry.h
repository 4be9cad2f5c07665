// The service's infrastructures, by ID.
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

// Facts about an infrastructure for /stats, kept after its removal.
struct InfrastructureFacts {
  std::string id, owner;
  double created = 0;  // wall-clock seconds
  bool deleted = false;
  Json figures = Json::object();  // creation_date, last_date, vm_count, ...
};

class Registry {
 public:
  // Opens all FOLDER/infrastructures/ID. Notes list those that could not be opened.
  static Result<std::unique_ptr<Registry>> open(Users& users, const std::string& folder,
                                                std::vector<std::string>& notes);

  // Ends all runs gracefully and starts no more.
  void stop();

  std::vector<std::shared_ptr<Infrastructure>> all() const;  // by creation time
  // NotFound; with "Deleted infrastructure." for one removed since the service started.
  Result<std::shared_ptr<Infrastructure>> find(const std::string& id) const;
  Result<std::shared_ptr<Infrastructure>> create(const std::string& owner);
  // Imports the result of Infrastructure::exported(), which must be trusted. Conflict: it already exists.
  Result<std::shared_ptr<Infrastructure>> take(std::string_view exported, const std::string& owner);
  size_t count_of(const std::string& owner) const;
  std::vector<InfrastructureFacts> facts() const;
  // Compiles a document without creating anything. Invalid: it does not compile.
  Result<ir::Program> compiled(const Document& document, const std::string& user) const;
  std::string default_cloud() const { return settings_.cloud.empty() ? "local" : settings_.cloud; }
  // The accounts for a request (Users::accounts()).
  Result<std::string> accounts(const Caller& caller, const std::string& sent) const {
    return users_.accounts(caller, sent);
  }
  Settings settings_of(const Caller& caller) const { return users_.of(caller.user); }
  // Forgets it and removes its folder.
  Status remove(const std::string& id);
  // Same after `over` has succeeded; it stays until then, and if `over` fails.
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
  std::vector<std::string> removed_;        // the most recent ones
  std::vector<std::future<void>> waiting_;  // for remove_after()
};

}  // namespace radl::serve

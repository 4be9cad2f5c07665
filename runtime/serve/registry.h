// The infrastructures of the service, by their ids.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/serve/infrastructure.h"

namespace radl::serve {

class Registry {
 public:
  // FOLDER/infrastructures/ID each; those that are there are opened. Notes say what could not be opened.
  static Result<std::unique_ptr<Registry>> open(const Settings& settings, const std::string& folder,
                                                std::vector<std::string>& notes);

  // Ends all runs well; none begins afterwards.
  void stop();

  std::vector<std::shared_ptr<Infrastructure>> all() const;  // by begin
  // NotFound; with "Deleted infrastructure." for one that was here since the service began.
  Result<std::shared_ptr<Infrastructure>> find(const std::string& id) const;
  Result<std::shared_ptr<Infrastructure>> create();
  // Forgets it, and removes its folder.
  Status remove(const std::string& id);
  // The same once `over` has succeeded; meanwhile it is here, and it stays if that fails.
  void remove_after(const std::shared_ptr<Infrastructure>& one, std::shared_future<Status> over);

 private:
  Registry(const Settings& settings, std::string folder) : settings_(settings), folder_(std::move(folder)) {}
  std::string folder_of(const std::string& id) const { return folder_ + "/" + id; }

  const Settings settings_;
  const std::string folder_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Infrastructure>> all_;
  bool stopping_ = false;
  std::vector<std::string> removed_;        // the last ones
  std::vector<std::future<void>> waiting_;  // of remove_after()
};

}  // namespace radl::serve

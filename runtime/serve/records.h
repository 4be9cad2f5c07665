// Copies of the service's records in the bucket of `--state`, so that a new server continues where a lost one
// was. They lie below PLACE/.service/, under their paths in FOLDER:
//
//   holder                       names the folder whose service writes here
//   tokens.json                  hashes of tokens
//   webhooks.sealed, credentials/USER   encrypted; FOLDER/credentials.key, their key, is never copied
//   workspaces/ID/..             about.json, program, receipt, plans, events of runs, small uploads
//   infrastructures/ID/..        of the Infrastructure Manager's API: its record and document
//
// Only infrastructures whose state is in this place are copied. A thread copies what has changed every few
// seconds; a run begins only when its record is in the bucket. Large uploads, results, logs and the audit log
// stay in FOLDER alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/environment.h"
#include "common/http/http.h"
#include "common/stop.h"
#include "common/transfer/object_store.h"
#include "runtime/base/world.h"

namespace radl::serve {

class Records {
 public:
  // Of a new folder: brings what the bucket has, and takes the place over from the service that wrote it.
  // Conflict: another service has taken it over, or the folder has records of its own. `notes` say what was
  // brought, and what was not. `world` outlives it.
  static Result<std::unique_ptr<Records>> open(const std::string& folder, const std::string& place,
                                               World& world, std::vector<std::string>& notes);
  ~Records();  // copies what is left, for a few seconds
  // Copies what has changed since the last time. Conflict: as open(). `for_run`: a run is about to begin, so
  // the place is checked even if nothing has changed.
  Status copy(const Stop& stop, bool for_run = false);
  static constexpr size_t kLargestFile = size_t{1} << 20;    // of an upload
  static constexpr size_t kLargestEvents = size_t{8} << 20;  // of a run
  static constexpr size_t kMostUploads = 1000;               // of one infrastructure

 private:
  using Stamps = std::map<std::string, std::string>;  // path below FOLDER -> time and size
  Records(std::string folder, std::string place, World& world, transfer::OpenedStore opened,
          std::unique_ptr<http::Client> client);
  std::string key(const std::string& path) const { return prefix_ + ".service/" + path; }
  Status begin(std::vector<std::string>& notes);
  Status bring(std::vector<std::string>& notes);
  Status check_holder(const Stop& stop);
  Stamps found();
  void add(const std::string& path, size_t most, Stamps& to) const;
  void add_folder(const std::string& folder, size_t most, Stamps& to) const;
  bool is_here(const std::string& record);  // whether its state is in this place
  Status save_copied() const;
  void work();

  const std::string folder_, place_;
  World& world_;
  const std::unique_ptr<http::Client> client_;
  const std::unique_ptr<transfer::ObjectStore> store_;
  const std::string prefix_;
  std::mutex mutex_;  // of copying
  std::string holder_;
  Stamps copied_;
  std::map<std::string, std::pair<std::string, bool>> here_;  // record -> its stamp, is_here()
  std::mutex wake_mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_ = false;
  std::jthread thread_;
};

}  // namespace radl::serve

// Verifies host keys that were trusted on first use, as soon as the machine's cloud reports its key. Internal
// to runtime/exec.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/exec/execution.h"

namespace radl {

// Compares the key that a machine shows (an OpenSSH public key line) with the one that its cloud reports.
// False: the cloud reports none of this type so far. Auth: it reports another key.
Result<bool> is_key_of_cloud(Cloud& cloud, const Context& context, const std::string& id,
                             const std::string& shown);
// For a machine whose key was trusted on first use. True: the question is settled.
Result<bool> confirm_host_key(Execution& execution, const ResourceRecord& record, const Stop& stop);

// While this object lives, a thread asks the clouds for the keys of all machines that were trusted on first
// use. The execution stops connecting to a machine whose key differs.
class HostKeyCheck {
 public:
  explicit HostKeyCheck(Execution& execution);
  ~HostKeyCheck();
  // Asks once more and records the results. Call it when no other code changes records. Auth: some machines
  // show other keys than their clouds report.
  Status end();

 private:
  void run();
  void ask_all(const Stop& stop);
  void stop_thread();

  Execution& execution_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;
  // Result for one machine. By the end, another machine may have its address.
  struct Verdict {
    std::string id, host_key;
    Status status;  // ok: the cloud has confirmed the key
    bool is_of(const ResourceRecord& record) const;
  };
  std::map<std::string, Verdict> verdicts_;  // by address
  std::thread thread_;
};

}  // namespace radl

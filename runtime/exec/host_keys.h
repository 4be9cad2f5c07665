// Host keys that were trusted on first use: compared with those that the machine's cloud tells, as soon as it
// does. Internal to runtime/exec.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/exec/execution.h"

namespace radl {

// What its cloud says of the key that a machine shows (an OpenSSH public key line). False: nothing yet, or
// nothing of keys of that type. Auth: the cloud tells another one.
Result<bool> is_key_of_cloud(Cloud& cloud, const Context& context, const std::string& id,
                             const std::string& shown);
// Of a machine whose key is recorded as trusted on first use. True: it need not be asked again.
Result<bool> confirm_host_key(Execution& execution, const ResourceRecord& record, const Stop& stop);

// While it lives, a thread asks the clouds for the keys of all machines of the execution that were trusted on
// first use. A machine that turns out to be another one is not connected to any more.
class HostKeyCheck {
 public:
  explicit HostKeyCheck(Execution& execution);
  ~HostKeyCheck();
  // Asks once more, and records what came of it: call it when nothing else changes records any more. Auth:
  // machines show other keys than their clouds tell.
  Status end();

 private:
  void run();
  void ask_all(const Stop& stop);
  void stop_thread();

  Execution& execution_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;
  // What came of one machine; another one may have its address by the end.
  struct Verdict {
    std::string id, host_key;
    Status status;  // ok: the cloud has confirmed the key
    bool is_of(const ResourceRecord& record) const;
  };
  std::map<std::string, Verdict> verdicts_;  // by address
  std::thread thread_;
};

}  // namespace radl

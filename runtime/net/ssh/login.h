// Logins to machines that may still be booting: one attempt per call, rate-limited for the server.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// Which of these servers accept a connection. Probes all at once within about a second. Also true if that
// cannot be determined from here: behind a jump host, or if a name does not resolve.
std::vector<bool> ports_answer(const std::vector<Target>& targets, const Stop& stop = {});

class Logins {
 public:
  // Makes one attempt, limited to 20 s. Retry, Lost, Timeout: it may work later. A rejected login counts as
  // such while the machine is `booting`, because sshd responds before the key is installed. Servers lock out
  // clients after too many rejections, so for some seconds after one the answer is repeated without an
  // attempt. Auth: another machine, or a permanently rejected login. Invalid: the login works but commands do
  // not.
  Status attempt(Remote& remote, const Target& target, bool booting, const Stop& stop = {});

 private:
  struct Refused {
    std::chrono::steady_clock::time_point until;
    std::chrono::milliseconds pause;
    std::string why;
  };
  std::mutex mutex_;
  std::map<std::string, Refused> refused_;  // by Target::name()
};

}  // namespace radl::ssh

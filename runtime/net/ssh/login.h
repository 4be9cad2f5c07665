// Logins at machines that may still be booting: one attempt a call, and no more of them than a server bears.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// Which of these servers take a connection, asked all at once, within about a second. True as well where that
// cannot be known from here: behind a jump host, or a name that does not resolve.
std::vector<bool> ports_answer(const std::vector<Target>& targets, const Stop& stop = {});

class Logins {
 public:
  // One attempt, with a time of its own of 20 s at most. Retry, Lost, Timeout: it may work later, which is so
  // of a refused login as well while the machine is `booting`: sshd answers before the key is in place.
  // Servers lock out who is refused too often, so for some seconds after that the answer is the same without
  // asking. Auth: another machine, or a login that is refused for good. Invalid: the login works and no
  // command does.
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

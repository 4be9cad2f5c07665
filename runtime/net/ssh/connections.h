// The connections of a run, shared by all users of the same machine, login and key.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

class Connections {
 public:
  using Log = std::function<void(const std::string&)>;

  // As make_remote(). An abandoned connection, or one on which a call failed, is not reused: the next caller
  // gets a new one. `log` is called only during calls on the result.
  std::unique_ptr<Remote> to(const Target& target, Log log);
  // True if a command has run over the connection that to() would return, so that no login attempt is needed.
  bool is_proven(const Target& target);

  struct Shared;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Shared>> shared_;
};

}  // namespace radl::ssh

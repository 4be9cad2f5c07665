// The connections of a run: whoever asks for the same machine, login and key shares one.
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

  // As make_remote(). A connection that is abandoned, or of which a call has failed, is given to nobody else:
  // the next one who asks gets a new one. `log` is called during calls of what is returned only.
  std::unique_ptr<Remote> to(const Target& target, Log log);
  // Whether a command has run over what to() would give, so that no login need be tried.
  bool is_proven(const Target& target);

  struct Shared;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Shared>> shared_;
};

}  // namespace radl::ssh

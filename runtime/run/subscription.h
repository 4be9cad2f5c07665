// The events of an infrastructure's runs, from a number on and then as they happen, whichever process makes
// the run: the one way in which commands follow runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/stop.h"
#include "runtime/run/event_log.h"

namespace radl {

class RunSubscription {
 public:
  struct From {
    std::string run;               // its id; "": all that go on now, or begin later
    unsigned long long event = 1;  // of a run that is named; of the others everything is given
  };
  // `folder`: Store::run_directory(). NotFound: the run that is named.
  static Result<std::unique_ptr<RunSubscription>> open(const std::string& folder, const From& from);

  // The next event that was written; nothing: there is none now. Events of one run come in their order.
  // Corrupt: a line that is not an event; the next call goes on after it.
  Result<std::optional<Event>> next();
  // Nothing is left to be given and no run goes on. Without a named run one may yet begin.
  bool over();
  // next(), waiting for it: nothing once over() is true, or `stop`.
  Result<std::optional<Event>> wait(const Stop& stop);

 private:
  RunSubscription(std::string folder, bool all) : folder_(std::move(folder)), all_(all) {}
  void find_new();

  const std::string folder_;
  const bool all_;
  std::string newest_;                                           // id of the newest run that was found
  std::map<std::string, std::unique_ptr<EventReader>> readers_;  // by run
};

}  // namespace radl

// The events of an infrastructure's runs, past and live, whichever process makes the run. All commands follow
// runs through this class.
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
    std::string run;               // ID of a run; "": all that run now or begin later
    unsigned long long event = 1;  // of a run that is named; of the others everything is given
  };
  // `folder`: Store::run_directory(). NotFound: the named run.
  static Result<std::unique_ptr<RunSubscription>> open(const std::string& folder, const From& from);

  // The next written event; nullopt: none available now. Events of one run arrive in order. Corrupt: a line
  // is not an event; the next call continues after it.
  Result<std::optional<Event>> next();
  // True if everything has been returned and no run is active. Without a named run, another may begin later.
  bool over();
  // next() with waiting: nullopt once over() is true, or at `stop`.
  Result<std::optional<Event>> wait(const Stop& stop);

 private:
  RunSubscription(std::string folder, bool all) : folder_(std::move(folder)), all_(all) {}
  void find_new();

  const std::string folder_;
  const bool all_;
  std::string newest_;                                           // ID of the newest run found
  std::map<std::string, std::unique_ptr<EventReader>> readers_;  // by run
};

}  // namespace radl

// What a native step says of its resources: errors with their place, lines of its log, events. Secrets are
// masked in all of it.
#pragma once

#include <string>

#include "runtime/steps/native/resource.h"
#include "runtime/steps/step_log.h"

namespace radl::native {

class ItemVoice {
 public:
  // All of it outlives this.
  ItemVoice(const StepContext& context, const ir::Step& step, const std::string& node, StepLog& log)
      : context_(context), step_(step), node_(node), log_(log) {}

  // The error with node, recipe and resource in front.
  Status named(const Item& item, Status why) const;
  // The same, also in the log and as an event.
  Status fail(const Item& item, const Status& why) const;
  // `state`: "ok", "changed", "failed".
  void tell(const Item& item, const char* state, double seconds) const;
  Change masked(Change change) const;

 private:
  const StepContext& context_;
  const ir::Step& step_;
  const std::string& node_;
  StepLog& log_;
};

}  // namespace radl::native

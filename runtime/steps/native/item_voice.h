// A native step's reports about its resources: errors with their position, log lines, events. Masks secrets
// in all of them.
#pragma once

#include <string>

#include "runtime/steps/native/resource.h"
#include "runtime/steps/step_log.h"

namespace radl::native {

class ItemVoice {
 public:
  // All arguments must outlive this object.
  ItemVoice(const StepContext& context, const ir::Step& step, const std::string& node, StepLog& log)
      : context_(context), step_(step), node_(node), log_(log) {}

  // Prefixes the error with node, recipe and resource.
  Status named(const Item& item, Status why) const;
  // Same, and writes it to the log and as an event.
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

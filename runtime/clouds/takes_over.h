// Of a cloud that knows by a mark (tags) what belongs to an infrastructure: what somebody else made gets it
// when it is imported, so that it is found again like all the rest.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl {

class TakesOver {
 public:
  virtual ~TakesOver() = default;
  // Marks what has the order's id as the order's address of this infrastructure; nothing else of it changes.
  virtual Status take_over(const Context& context, const Order& order) = 0;
};

}  // namespace radl

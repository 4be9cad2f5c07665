// Work over the elements of a large document, side by side, with the findings of one pass over all of them.
#pragma once

#include <algorithm>
#include <vector>

#include "common/guarded.h"
#include "common/processors.h"
#include "compiler/diag/diagnostic.h"

namespace radl {

// Calls work(begin, end, part) for ranges of [0, count) that together are all of it: `parts` of them.
class Parts {
 public:
  // One where so few elements are there that another thread is not worth its start.
  explicit Parts(size_t count, size_t least = 1000) : count_(count) {
    if (count < 2 * least) return;
    static const size_t cores =
        static_cast<size_t>(usable_cores());  // asked once: it takes as long as a thread
    parts_ = std::min(count / least, cores);
  }
  size_t size() const { return parts_; }

  template <class Work>
  bool run(Work&& work) const {
    return for_each_parallel(parts_, parts_,
                             [&](size_t part) {
                               work(count_ * part / parts_, count_ * (part + 1) / parts_, part);
                               return ok_status();
                             })
        .ok();
  }

 private:
  size_t count_, parts_ = 1;
};

// Reports in `to` what parts found, in order: as if all had been reported there. False, with nothing
// reported, when one of them left findings out.
inline bool hand_over(const std::vector<const Diagnostics*>& parts, Diagnostics& to) {
  for (const Diagnostics* part : parts)
    if (part->dropped() != 0) return false;
  for (const Diagnostics* part : parts) {
    for (const Diagnostic& each : part->all()) {
      Diagnostic& reported = to.report(each.code, each.span, each.message);
      reported.label = each.label;
      reported.help = each.help;
      reported.notes = each.notes;
      reported.fixes = each.fixes;
    }
  }
  return true;
}

}  // namespace radl

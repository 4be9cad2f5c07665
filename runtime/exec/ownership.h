// Decides which of the resources with the infrastructure's tag belong to this state. Internal to
// runtime/exec.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

class Ownership {
 public:
  // From the recorded resources and from the creations in the journal.
  static Result<Ownership> of(Execution& execution);

  // Returns "" if the resource belongs to this state, else the reason why it does not.
  std::string why_foreign(const Cloud& cloud, const Seen& seen) const;
  // True if `radlc state rm` released the resource. Its tags then no longer matter.
  bool is_released(const std::string& cloud, const std::string& id) const;
  // Resources that the plan keeps because something released uses them. A sweep keeps them too.
  bool is_kept(const std::string& cloud, const std::string& id) const;
  void keep(const std::string& cloud, const std::string& id);
  // Returns all clouds in which this state has ever created something, as far back as the journal goes.
  std::set<std::string> clouds() const;
  // Returns what a query must include besides tagged resources, because somebody may have removed the tags.
  Query everything_of(const std::string& cloud) const;

 private:
  struct OfCloud {
    std::set<std::string> ids, recorded, released, kept;
    std::map<std::string, std::set<std::string>> by_token;  // known ids
  };
  std::map<std::string, OfCloud> clouds_;
};

}  // namespace radl

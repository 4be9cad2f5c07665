// What is this state's own among all that carries its tag. Internal to runtime/exec.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

class Ownership {
 public:
  // Of the resources recorded in the execution, and of what the journal says that this state has created.
  static Result<Ownership> of(Execution& execution);

  // "": it is this state's. Else why it is not.
  std::string why_foreign(const Cloud& cloud, const Seen& seen) const;
  // `radlc state rm` has let go of it: whatever its tags still say, it is no concern of this state's.
  bool is_released(const std::string& cloud, const std::string& id) const;
  // What the plan keeps, as something released uses it, is not swept away either.
  bool is_kept(const std::string& cloud, const std::string& id) const;
  void keep(const std::string& cloud, const std::string& id);
  // Where this state has ever created something, as far back as the journal goes.
  std::set<std::string> clouds() const;
  // What a look must ask for beside all that carries the tag, which somebody may have taken off.
  Query everything_of(const std::string& cloud) const;

 private:
  struct OfCloud {
    std::set<std::string> ids, recorded, released, kept;
    std::map<std::string, std::set<std::string>> by_token;  // the ids that are known of it
  };
  std::map<std::string, OfCloud> clouds_;
};

}  // namespace radl

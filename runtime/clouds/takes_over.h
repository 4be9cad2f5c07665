// Whose a resource is, as its cloud keeps it: what is imported, released, and found again without a state.
#pragma once

#include <set>

#include "runtime/clouds/cloud.h"

namespace radl {

class TakesOver {
 public:
  virtual ~TakesOver() = default;
  // The id of what a user names as the cloud's own tools show it: by a URL, or by a path with the account in
  // front of it. Invalid: nothing of the type has such an id; says what one looks like.
  virtual Result<std::string> id_named(const Context& context, const std::string& type,
                                       const std::string& name);
  // Marks what has the order's id as the order's address of this infrastructure, so that it is found again
  // like all the rest; nothing else of it changes. Where marks cannot be added it is known by its id alone.
  virtual Status take_over(const Context& context, const Order& order);
  // Writes Cloud::marks_of() on a resource of ours that somebody took them from. Unsupported: ask_update()
  // does it.
  virtual Status write_marks(const Context& context, const Order& order);
  // Takes these marks off again: no look for the infrastructure shows it from now on, and it goes on running.
  // NotFound: it is gone. Unsupported: the type keeps its mark in a name that never changes.
  virtual Status release(const Context& context, const Order& order) = 0;
  // The tags (infrastructure_tag()) of the infrastructures of this name, whatever their lineage, that may
  // have something here. Those whose last resource has just gone may be among them: look() tells.
  virtual Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) = 0;
  // All that it shows is kept in this state's own work directory: nothing of others can be among it, and the
  // directory must stay as long as something of it does.
  virtual bool is_in_work_directory() const { return false; }
};

inline Result<std::string> TakesOver::id_named(const Context&, const std::string&, const std::string& name) {
  return name;
}
inline Status TakesOver::take_over(const Context&, const Order&) { return {}; }
inline Status TakesOver::write_marks(const Context&, const Order&) {
  return Status(Code::Unsupported, "a change of the resource writes its tags");
}

// Whether infrastructure_tag(name, some lineage) is this: "demo-0a1b2c3d".
bool is_tag_of(const std::string& tag, const std::string& name);

}  // namespace radl

// Ownership of resources as stored in the cloud: import, release, and recovery without a state.
#pragma once

#include <set>

#include "runtime/clouds/cloud.h"

namespace radl {

class TakesOver {
 public:
  virtual ~TakesOver() = default;
  // Converts a name as shown by the cloud's own tools (a URL, or a path that includes the account) to an ID.
  // Invalid: not an ID of this type; shows an example.
  virtual Result<std::string> id_named(const Context& context, const std::string& type,
                                       const std::string& name);
  // Marks the resource with the order's ID as this infrastructure's resource at the order's address, so that
  // it is found like all others. Changes nothing else. If marks are unsupported, it is known only by its ID.
  virtual Status take_over(const Context& context, const Order& order);
  // Rewrites Cloud::marks_of() on a resource that lost them. Unsupported: use ask_update()
  // instead.
  virtual Status write_marks(const Context& context, const Order& order);
  // Removes these marks: the infrastructure no longer lists the resource, which keeps running. NotFound: it
  // does not exist. Unsupported: the type's mark is in a name that never changes.
  virtual Status release(const Context& context, const Order& order) = 0;
  // Tags (infrastructure_tag()) of the infrastructures with this name, of any lineage, that may have
  // resources here. May include some whose last resource was just deleted; look() tells.
  virtual Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) = 0;
  // True if everything it shows is in this state's own work directory: there are no foreign resources, and
  // the directory must be kept as long as any of them exists.
  virtual bool is_in_work_directory() const { return false; }
};

inline Result<std::string> TakesOver::id_named(const Context&, const std::string&, const std::string& name) {
  return name;
}
inline Status TakesOver::take_over(const Context&, const Order&) { return {}; }
inline Status TakesOver::write_marks(const Context&, const Order&) {
  return Status(Code::Unsupported, "a change of the resource writes its tags");
}

// True if this is infrastructure_tag(name, any lineage): "demo-0a1b2c3d".
bool is_tag_of(const std::string& tag, const std::string& name);

}  // namespace radl

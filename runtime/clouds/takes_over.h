// Of a cloud in which somebody else may have made what is imported.
#pragma once

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
};

inline Result<std::string> TakesOver::id_named(const Context&, const std::string&, const std::string& name) {
  return name;
}
inline Status TakesOver::take_over(const Context&, const Order&) { return {}; }
inline Status TakesOver::write_marks(const Context&, const Order&) {
  return Status(Code::Unsupported, "a change of the resource writes its tags");
}

}  // namespace radl

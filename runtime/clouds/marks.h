// Marks on everything that a cloud creates for radlc, so that it is found again whatever happens
// to the response; for clouds with unique names.
//
// Names derive from the token, so a repeated request by any process meets the resource of the
// first one. They begin with a prefix for infrastructure and region, by which lists are
// filtered.
#pragma once

#include <set>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

struct Mark {
  std::string infrastructure, address, token;
  bool ours(const Context& context) const {
    return !token.empty() && infrastructure == context.infrastructure;
  }
};
// Stores address and token in `seen`, unless they belong to another infrastructure.
void take_mark(const Context& context, const Mark& mark, Seen& seen);

// "radlc-0123456789-": prefix of everything of an infrastructure in a region, and of nothing else.
std::string name_prefix(const Context& context, const CloudId& cloud);
// The name for a token: letters, digits and '-', at most 63.
std::string name_for(const Context& context, const CloudId& cloud, const Order& order);
// The name of a machine group ("network.lan"), built the same way.
std::string group_name(const Context& context, const CloudId& cloud, const std::string& group);

// The selection of a look.
struct Wish {
  std::set<std::string> ids, tokens;
  bool everything = false;
  bool empty() const { return ids.empty() && tokens.empty() && !everything; }
  bool wants(const Context& context, const std::string& id, const Mark& mark) const {
    if (ids.count(id)) return true;
    return mark.ours(context) && (everything || tokens.count(mark.token));
  }
};

}  // namespace radl

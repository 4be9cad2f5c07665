// What is written on everything that a cloud makes for us, so that it is found again whatever becomes of the
// answer; for clouds whose names are unique in their place.
//
// Names are made of the token, so that a request that is made a second time, by whichever process, meets what
// the first one made. They begin with what stands for the infrastructure and the region, which lists are
// filtered by.
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
// Address and token of what is this infrastructure's; nothing of another one's.
void take_mark(const Context& context, const Mark& mark, Seen& seen);

// "radlc-0123456789-": of all that an infrastructure has in a region, and of nothing else.
std::string name_prefix(const Context& context, const CloudId& cloud);
// Of what a token makes: letters, digits and '-', at most 63.
std::string name_for(const Context& context, const CloudId& cloud, const Order& order);
// Of the machines of a group ("network.lan"), in the same way.
std::string group_name(const Context& context, const CloudId& cloud, const std::string& group);

// What a look is for.
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

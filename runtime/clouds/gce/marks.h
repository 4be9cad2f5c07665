// What we write on everything that we make, so that it is found again whatever becomes of the answer.
//
// Names are unique in their place and made of the token, so that a request that is made a second time, by
// whichever process, meets what the first one made. They begin with what stands for the infrastructure and
// the region, which lists are filtered by; the whole mark is in the description, and labels are for people
// and bills.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::gce {

struct Mark {
  std::string infrastructure, address, token;
  bool ours(const Context& context) const {
    return !token.empty() && infrastructure == context.infrastructure;
  }
};

// "radlc-0123456789-": of all that an infrastructure has in a region, and of nothing else.
std::string name_prefix(const Context& context, const CloudId& cloud);
// Of what a token makes: letters, digits and '-', at most 63.
std::string name_for(const Context& context, const CloudId& cloud, const Order& order);
// The network tag of the machines of a group ("network.lan").
std::string tag_of(const Context& context, const CloudId& cloud, const std::string& group);

// "radlc TOKEN INFRASTRUCTURE ADDRESS"
std::string to_line(const Context& context, const Order& order);
Mark from_line(const std::string& line);

// {"radlc-infrastructure": .., "radlc-address": ..}: of lower-case letters, digits, '-' and '_'.
Json labels_for(const Context& context, const Order& order);
// Those that are the user's own.
Json own_labels(const Json& labels);
// Whether a label may be so; for keys and values.
bool is_label(const std::string& text, bool key);

// Address and token of what is this infrastructure's; nothing of another one's.
void take_mark(const Context& context, const Mark& mark, Seen& seen);

}  // namespace radl::gce

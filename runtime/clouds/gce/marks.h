// Marks (runtime/clouds/marks.h) in Compute Engine: the description holds the complete mark; labels are for
// people and bills.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/clouds/marks.h"

namespace radl::gce {

// The network tag of the machines of a group ("network.lan").
std::string tag_of(const Context& context, const CloudId& cloud, const std::string& group);

// "radlc TOKEN INFRASTRUCTURE ADDRESS"
std::string to_line(const Context& context, const Order& order);
Mark from_line(const std::string& line);
// The mark of a resource as shown by the API; empty if it was released.
Mark mark_in(const Json& item);

inline constexpr const char* kInfrastructureLabel = "radlc-infrastructure";
inline constexpr const char* kAddressLabel = "radlc-address";
inline constexpr const char* kReleasedLabel = "radlc-released";  // marks a released resource

// {"radlc-infrastructure": .., "radlc-address": ..}, in lower-case letters, digits, '-' and '_'.
Json labels_for(const Context& context, const Order& order);
// The user's own labels.
Json own_labels(const Json& labels);
// True if the text is valid as a label's key or value.
bool is_label(std::string_view text, bool key);

}  // namespace radl::gce

// Marks (runtime/clouds/marks.h) as Compute Engine keeps them: the whole mark is in the description, and
// labels are for people and bills.
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
// Of a resource as the API shows it; none where it was released.
Mark mark_in(const Json& item);

inline constexpr const char* kInfrastructureLabel = "radlc-infrastructure";
inline constexpr const char* kAddressLabel = "radlc-address";
inline constexpr const char* kReleasedLabel = "radlc-released";  // radlc has let go of it

// {"radlc-infrastructure": .., "radlc-address": ..}: of lower-case letters, digits, '-' and '_'.
Json labels_for(const Context& context, const Order& order);
// Those that are the user's own.
Json own_labels(const Json& labels);
// Whether a label may be so; for keys and values.
bool is_label(std::string_view text, bool key);

}  // namespace radl::gce

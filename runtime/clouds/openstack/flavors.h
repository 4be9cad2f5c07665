// Flavors: what a cloud's machines may be like. Each cloud has its own, so the file's features are kept as
// they are in the spec, and the flavor is chosen when a machine is made.
#pragma once

#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// The features that choose a flavor, as a spec has them: {"cpu.count": {"min": 2}, ..}; and back.
Json flavor_wanted(const ir::Node& node);
ir::Node node_of_wish(const std::string& address, const Json& wanted);
// What an order's "flavor" and "arch" ask for.
ir::Node wish_of(const Order& order);

// One of Nova's list, with what its extra specs say of graphics processors.
Flavor flavor_in(const Json& item);
// As a survey keeps it, and back.
Json to_json(const Flavor& flavor);
Flavor flavor_from_json(const Json& json);
// Whether an image for that architecture ("": it says none) may start on it. A flavor that names no
// architecture leaves the host to the scheduler.
bool may_boot(const Flavor& flavor, const std::string& architecture);

// Those that fit, the smallest first: without graphics processors where none are asked for, then by cores,
// memory, disk and name. Invalid names the feature that none has.
Result<std::vector<const Flavor*>> fitting_flavors(const ir::Node& node, const std::vector<Flavor>& flavors,
                                                   const std::string& cloud);

// All that the project may use; asked once.
Result<std::vector<Flavor>> flavors_there(Asking& call);
// The one for a spec: its "type" by name or id, else the smallest that fits its "flavor" and, where that is
// said, has room for the image.
Result<Flavor> flavor_for(Asking& call, const Order& order, const Image* image = nullptr);

// Of flavors that fit, the smallest that an image of these needs starts on, with a root disk of `root_gib`
// (0: the flavor's own); else the smallest with its memory, whose root disk is to be a volume; nullptr: there
// is none.
const Flavor* first_for(const std::vector<const Flavor*>& fit, const Image& image, double root_gib);

}  // namespace radl::openstack

// Flavors: the machine types of a cloud. Each cloud defines its own, so the spec keeps the file's
// requirements, and the flavor is chosen when a machine is created.
#pragma once

#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// Converts between the features that choose a flavor and their form in a spec: {"cpu.count": {"min": 2}, ..}.
Json flavor_wanted(const ir::Node& node);
ir::Node node_of_wish(const std::string& address, const Json& wanted);
// The request in an order's "flavor" and "arch".
ir::Node wish_of(const Order& order);

// Parses an entry of Nova's list, with the GPUs in its extra specs.
Flavor flavor_in(const Json& item);
// Conversion to and from the form in a survey.
Json to_json(const Flavor& flavor);
Flavor flavor_from_json(const Json& json);
// True if an image of that architecture ("": unknown) may boot on it. For a flavor without an architecture,
// the scheduler chooses the host.
bool may_boot(const Flavor& flavor, const std::string& architecture);

// The flavors that fit, smallest first: without GPUs unless requested, then by cores, memory, disk and name.
// Invalid names the feature that none has.
Result<std::vector<const Flavor*>> fitting_flavors(const ir::Node& node, const std::vector<Flavor>& flavors,
                                                   const std::string& cloud);

// All flavors available to the project; fetched once.
Result<std::vector<Flavor>> flavors_there(Asking& call);
// The flavor for a spec: its "type" by name or ID, else the smallest that fits its "flavor" and, if known,
// has room for the image.
Result<Flavor> flavor_for(Asking& call, const Order& order, const Image* image = nullptr);

// The smallest fitting flavor on which an image with these requirements boots, with a root disk of `root_gib`
// (0: the flavor's own). Else the smallest with enough memory, whose root disk must then be a volume.
// nullptr: none.
const Flavor* first_for(const std::vector<const Flavor*>& fit, const Image& image, double root_gib);

}  // namespace radl::openstack

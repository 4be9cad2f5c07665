// Which image a machine starts from.
#pragma once

#include <string>

#include "runtime/clouds/azure/api.h"

namespace radl::azure {

inline constexpr const char* kUsualUser = "radlc";  // a login where the file names none

// In specs: "PUBLISHER/OFFER/SKU/VERSION" of the marketplace, "id:RESOURCE-ID" of an image or of a gallery's,
// "snapshot:RESOURCE-ID". Of a node's disk.0.image.url (azr://..) or its disk.0.os.*. Invalid: it is no image
// of Azure.
Result<std::string> image_wanted(const ir::Node& node);
// The same image for machine types that start the old way (generation 1) alone; "" where it needs no other.
std::string first_generation(const std::string& image);
bool is_first_generation(const std::string& machine_type);
// The same image for arm64, itself where it is one that the file names; "" where none is known.
std::string for_arm(const std::string& image);
// The id of the snapshot that an image text means; "": it means none.
std::string snapshot_of(const std::string& image);
// Of a spec's "image". NotFound: it is not there.
Result<Image> find_image(Asking& call, const std::string& image);

}  // namespace radl::azure

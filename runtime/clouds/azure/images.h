// Selects the image that a machine boots.
#pragma once

#include <string>

#include "runtime/clouds/azure/api.h"

namespace radl::azure {

inline constexpr const char* kUsualUser = "radlc";  // the login if the file names none

// The image text in specs: "PUBLISHER/OFFER/SKU/VERSION" of the marketplace, "id:RESOURCE-ID" of an image or
// gallery image, "snapshot:RESOURCE-ID". From a node's disk.0.image.url (azr://..) or disk.0.os.*. Invalid:
// not an Azure image.
Result<std::string> image_wanted(const ir::Node& node);
// The image for machine types that support only generation 1; "" if it needs no other.
std::string first_generation(const std::string& image);
bool is_first_generation(const std::string& machine_type);
// The image for arm64; unchanged if the file names it; "" if none is known.
std::string for_arm(const std::string& image);
// The ID of the snapshot in an image text; "" if it is not a snapshot.
std::string snapshot_of(const std::string& image);
// Looks up a spec's "image". NotFound: it does not exist.
Result<Image> find_image(Asking& call, const std::string& image);

}  // namespace radl::azure

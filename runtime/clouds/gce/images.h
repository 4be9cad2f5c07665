// Selects the image that a machine boots.
#pragma once

#include <string>

#include "runtime/clouds/gce/api.h"

namespace radl::gce {

// The image text in specs: "projects/PROJECT/global/images/NAME", ".../images/family/NAME", or a plain name:
// a family or image of its publisher's project (debian-12: debian-cloud) or of the user's. From a node's
// disk.0.image.url (gce://REGION/IMAGE, where IMAGE may contain slashes) or disk.0.os.*. `arm`: selects arm64
// for disk.0.os.*. Invalid: not a Compute Engine image.
Result<std::string> image_wanted(const ir::Node& node, bool arm = false);
// True if the name is that of an image by Google's usual publishers.
bool is_published(const std::string& image);
// The conventional login of such images; any other name works too.
std::string user_of_image(const std::string& image);
// Looks up a spec's "image". NotFound: it does not exist.
Result<Image> find_image(Asking& call, const std::string& image);

}  // namespace radl::gce

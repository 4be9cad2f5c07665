// Which image a machine starts from.
#pragma once

#include <string>

#include "runtime/clouds/gce/api.h"

namespace radl::gce {

// In specs: "projects/PROJECT/global/images/NAME", ".../images/family/NAME", or a name alone: of a family or
// an image of the project that publishes it (debian-12: debian-cloud) or of one's own.
// Of a node's disk.0.image.url (gce://REGION/IMAGE, where IMAGE may have slashes) or its disk.0.os.*.
// `arm`: of images by disk.0.os.*, the one for arm64. Invalid: it is no image of Compute Engine.
Result<std::string> image_wanted(const ir::Node& node, bool arm = false);
// Whether Google's usual publishers have made it, as far as its name tells.
bool is_published(const std::string& image);
// The login that such images have by custom; any other may be named.
std::string user_of_image(const std::string& image);
// Of a spec's "image". NotFound: it is not there.
Result<Image> find_image(Asking& call, const std::string& image);

}  // namespace radl::gce

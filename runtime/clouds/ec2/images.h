// Which image a machine starts from: an id, or an owner and a pattern of names whose newest match is taken.
#pragma once

#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// In specs: "ami-0abc", or "OWNER/NAME" with * and ? in the name: "136693071363/debian-12-amd64-*".
struct ImageWanted {
  std::string text;
  std::string region;  // that the URL names; empty: none
};
// What a node's disk.0.image.url (aws://REGION/ami-..., aws://REGION/NAME, ami-...) or its disk.0.os.* ask
// for; Debian 12 where nothing is said. Of several URLs the first of this region, or of none. `arch`:
// "x86_64" or "arm64". Invalid: no image of EC2.
Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& arch, const std::string& region);

// The login of images that are made with one; "" when it is not known.
std::string user_of_image(const std::string& name);

Result<Image> find_image(Call& call, const std::string& text);

// aws://REGION/... of a node; "" when it names none.
std::string image_region(const ir::Node& node);

}  // namespace radl::ec2

// Selects the image that a machine boots: an ID, or an owner and a name pattern whose newest match is used.
#pragma once

#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// In specs: "ami-0abc", or "OWNER/NAME" with * and ? in the name: "136693071363/debian-12-amd64-*".
struct ImageWanted {
  std::string text;
  std::string region;  // named by the URL; empty: none
};
// The image requested by a node's disk.0.image.url (aws://REGION/ami-..., aws://REGION/NAME, ami-...) or
// disk.0.os.*; default Debian 12. Of several URLs, the first for this region or for none. `arch`: "x86_64" or
// "arm64". Invalid: not an EC2 image.
Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& arch, const std::string& region);

// The default login of an image; "" if unknown.
std::string user_of_image(const std::string& name);

Result<Image> find_image(Call& call, const std::string& text);

// The region in a node's aws://REGION/... URL; "" if none.
std::string image_region(const ir::Node& node);

}  // namespace radl::ec2

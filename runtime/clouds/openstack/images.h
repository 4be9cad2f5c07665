// Which image a machine starts from.
#pragma once

#include <string>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// In specs: an id or a name of Glance's, "system:debian:12" for the newest of a distribution, an
// "egi://SITE/NAME?VO" of EGI's, or "volume:NAME" for a volume that is there already.
struct ImageWanted {
  std::string text;
  std::string host;  // of Keystone, that an ost:// URL names; empty: none
  std::string site;  // of EGI's, that an egi:// or appdb:// URL names; empty: none
};
// What a node's disk.0.image.url (ost://HOST[:PORT]/[image/]ID-OR-NAME, ost://HOST/volume/.., egi://.., a
// bare id) or its disk.0.os.* ask for; Debian 12 where nothing is said. Invalid: no image of OpenStack.
Result<ImageWanted> image_wanted(const ir::Node& node);
// Of several URLs the first that is of `host` and of `site` ("": any), else the first; of several volumes the
// one in the node's own place.
Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& host, const std::string& site);

bool names_volume(const std::string& image);

// The login of images that are made with one.
std::string user_of_image(const std::string& name);

// `http`: for EGI's information, where the text is a URL of its.
Result<Image> find_image(Asking& call, const std::string& text);

}  // namespace radl::openstack

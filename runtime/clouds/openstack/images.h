// Selects the image that a machine boots.
#pragma once

#include <string>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// The image text in specs: an ID or name of Glance, "system:debian:12" for the newest of a distribution,
// EGI's "egi://SITE/NAME?VO", or "volume:NAME" for an existing volume.
struct ImageWanted {
  std::string text;
  std::string host;  // Keystone's host in an ost:// URL; empty: none
  std::string site;  // EGI site in an egi:// or appdb:// URL; empty: none
};
// The image requested by disk.0.image.url (ost://HOST[:PORT]/[image/]ID-OR-NAME, ost://HOST/volume/..,
// egi://.., or an ID) or disk.0.os.*; default Debian 12. Invalid: not an OpenStack image.
Result<ImageWanted> image_wanted(const ir::Node& node);
// Of several URLs, the first for `host` and `site` ("": any), else the first; of several volumes, the one at
// the node's own position.
Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& host, const std::string& site);

bool names_volume(const std::string& image);

// The default login of an image.
std::string user_of_image(const std::string& name);

// `http`: for EGI's information service, if the text is an EGI URL.
Result<Image> find_image(Asking& call, const std::string& text);

}  // namespace radl::openstack

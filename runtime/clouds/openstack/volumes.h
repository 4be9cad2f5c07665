// Existing volumes named in a file: disks to attach or to boot from.
#pragma once

#include <string>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

struct VolumeThere {
  std::string id, name, status, server;  // ID of the attached machine; "": none
  bool bootable = false;
  Json image = Json::object();  // metadata of its source image
};
// Looks up a volume by ID, else by name. NotFound suggests a similar one. Invalid: the name is ambiguous.
Result<VolumeThere> volume_named(Asking& call, const std::string& text);
// Retry: a machine that is being deleted still has it. Invalid: another machine has it.
Status is_free(Asking& call, const VolumeThere& volume);

// The volume in a URL: "ost://HOST/volume/NAME", "ost://HOST/NAME", or a plain name; "": another cloud's URL.
// `host`: Keystone's host; "" accepts any.
std::string volume_in_url(const std::string& url, const std::string& host);

}  // namespace radl::openstack

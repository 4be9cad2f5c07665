// Volumes that are there already and that a file names: disks to attach, or to start from.
#pragma once

#include <string>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

struct VolumeThere {
  std::string id, name, status, server;  // id of the machine that has it; "": none
  bool bootable = false;
  Json image = Json::object();  // metadata of the image that it was made of
};
// By its id, else by its name. NotFound names the near miss; Invalid: several are called so.
Result<VolumeThere> volume_named(Asking& call, const std::string& text);
// Retry: a machine that goes has it still. Invalid: another machine has it.
Status is_free(Asking& call, const VolumeThere& volume);

// What a URL names: "ost://HOST/volume/NAME", "ost://HOST/NAME", or a name alone; "": another cloud's.
// `host`: of Keystone; "" takes any.
std::string volume_in_url(const std::string& url, const std::string& host);

}  // namespace radl::openstack

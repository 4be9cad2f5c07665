// Formats, mounts, and adds to /etc/fstab the further disks of a machine, as the Infrastructure Manager does.
// Only for clouds that attach disks as volumes (attribute "volumes": {"b": "vol-.."}, by the device's last
// letter). Internal to runtime/exec.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

struct DiskMount {
  int index = 0;  // disk.N
  std::string volume;
  char letter = 'b';         // of the requested device; the kernel may use another
  std::string fstype, path;  // no path if fstype is "swap"
};

// Returns the disks of the node that name device, fstype and mount_path. Parent paths come first.
std::vector<DiskMount> disks_to_mount(const ir::Node& node, const Json& attributes);

// Returns an idempotent shell script for root. It never formats a device with a file system or a partition
// table. Tests set other places.
struct DiskPlaces {
  std::string devices = "/dev", blocks = "/sys/block", fstab = "/etc/fstab";
};
std::string disk_script(const std::vector<DiskMount>& disks, const DiskPlaces& places = {});

// Requires a reachable machine.
Status mount_disks(Execution& execution, const std::string& address, const Context& context);

}  // namespace radl

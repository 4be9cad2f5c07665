// Further disks of a machine: given a file system where they carry none, mounted where the file says, and
// kept in /etc/fstab, as the Infrastructure Manager does. Only of clouds that attach them as volumes (the
// attribute "volumes": {"b": "vol-.."}, by the device's last letter). Internal to runtime/exec.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

struct DiskMount {
  int index = 0;  // disk.N
  std::string volume;
  char letter = 'b';         // of the device that was asked for: what a kernel calls it may be another one
  std::string fstype, path;  // fstype "swap": no path
};

// Those of the node that name device, fstype and mount_path; a path that lies in another comes after it.
std::vector<DiskMount> disks_to_mount(const ir::Node& node, const Json& attributes);

// Shell text, for root, that may be run again. It never formats what carries a file system or a partition
// table. What lies where is said for tests.
struct DiskPlaces {
  std::string devices = "/dev", blocks = "/sys/block", fstab = "/etc/fstab";
};
std::string disk_script(const std::vector<DiskMount>& disks, const DiskPlaces& places = {});

// On a machine that has been reached.
Status mount_disks(Execution& execution, const std::string& address, const Context& context);

}  // namespace radl

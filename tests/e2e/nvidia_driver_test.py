"""std/gpu/nvidia_driver on a recorded machine: a local node with a GPU's entry in /sys, and apt, modprobe and nvidia-smi that record."""
import os
import unittest

from radl_case import RadlCase

FILE = """radl 2
network lan (outbound = 'no')
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy worker 1
configure machine (
  each name, does in {
    apt-get = 'case "$*" in *install*linux-headers*) [ ! -e ~/no-headers ] || exit 100 ;; *install*) : > ~/installed ;; esac'
    apt-cache = 'echo "nvidia-driver-535-server - d"; echo "nvidia-driver-550-server - d"'
    modprobe = '[ ! -e ~/no-module ] || { echo "modprobe: FATAL: Module nvidia not found" >&2; exit 1; }; : > ~/loaded'
    nvidia-smi = '[ -e ~/loaded ] || { echo "NVIDIA-SMI has failed"; exit 9; }; echo fine'
  } (
    file '/usr/local/sbin/${name}' ( mode = '0755', content = "#!/bin/sh\\necho ${name} \\"$*\\" >> ~/recorded\\n${does}\\n" )
  )
)
contextualize ( system worker configure machine )
use 'std/gpu/nvidia_driver' as driver ( systems = system.worker )
"""


@unittest.skipIf(os.geteuid() != 0, "skipped: isolated local nodes need root")
class Driver(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_LOCAL_ISOLATION"] = "required"
        self.file = self.write("gpu.radl", FILE)

    def on(self, command):
        return self.radlc("exec", self.file, "worker[0]", "-c", command)

    def refused(self, why):
        self.radlc("apply", "-y", self.file, code=2)
        self.assertIn(why, self.err)

    def test_the_driver_is_installed_and_loaded_once_or_the_obstacle_is_named(self):
        self.radlc("apply", "-y", self.file, code=None)  # this computer may have a GPU of its own
        self.on("mkdir -p ~/pci/gpu ~/none && echo 0x10de > ~/pci/gpu/vendor && echo 0x030200 > ~/pci/gpu/class && "
                "rm -f ~/loaded ~/installed && mount --bind ~/none /sys/bus/pci/devices")
        self.refused("this node has no NVIDIA GPU")
        self.on("mount --bind ~/pci /sys/bus/pci/devices && touch ~/no-headers ~/no-module")
        self.refused("there are no headers for the kernel that runs")
        self.on("rm ~/no-headers")
        self.refused("the driver's kernel module cannot be loaded")
        self.on("rm ~/no-module ~/recorded")
        self.radlc("apply", "-y", self.file)
        recorded = self.on("cat ~/recorded")
        self.assertRegex(recorded, r"apt-get .*install --no-install-recommends linux-headers-")
        self.assertRegex(recorded, r"apt-get .*install --no-install-recommends nvidia-driver.* nvidia-(smi|utils)")
        self.assertIn("modprobe nvidia", recorded)
        self.assertIn("No changes", self.radlc("apply", "-y", self.file))
        self.radlc("destroy", "-y", self.file)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()

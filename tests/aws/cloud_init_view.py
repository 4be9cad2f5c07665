"""A machine whose user data is read by cloud-init itself (cloud_init_program.py) in place of user_data.py, in the stages in which systemd
would start it."""
import shlex

from cloud_init_program import program
from node_view import NodeView

# Of its modules those that neither want a network nor would change what the kernel shares with this computer.
SETTINGS = """datasource_list: [NoCloud, None]
network: {config: disabled}
users: []
cloud_init_modules: [bootcmd, write-files, set_hostname, update_hostname, update_etc_hosts, users-groups]
cloud_config_modules: [runcmd]
cloud_final_modules: [write-files-deferred, scripts-vendor, scripts-per-once, scripts-per-boot, scripts-per-instance, scripts-user, final-message]
"""
OUTFIT = r"""tar -C {program} -cf - . | tar -C "$R" --keep-directory-symlink --no-same-owner -xf -
  mkdir -p "$R/var/lib/cloud/seed/nocloud" "$R/etc/cloud/cloud.cfg.d"
  cp "$D/etc/settings" "$R/etc/cloud/cloud.cfg.d/99_tests.cfg"
  cp "$D/etc/meta-data" "$D/etc/user-data" "$R/var/lib/cloud/seed/nocloud/" """
BOOT = r"""#!/bin/sh
exec > {folder}/run/cloud-init.log 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cloud-init init --local
cloud-init init
cloud-init modules --mode=config
cloud-init modules --mode=final
"""


class CloudInitView(NodeView):
    def _outfit(self):
        etc = self.folder / "etc"
        (etc / "settings").write_text(SETTINGS)
        (etc / "meta-data").write_text(f"instance-id: {self.name}\nlocal-hostname: of-the-cloud\n")
        (etc / "user-data").write_bytes(self.user_data)
        return OUTFIT.format(program=shlex.quote(str(program()[0])))

    def _write_first_boot(self, texts):
        self._script("first-boot", BOOT.format(folder=shlex.quote(str(self.folder))))

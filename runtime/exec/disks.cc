#include "runtime/exec/disks.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/shell_quote.h"
#include "common/text.h"

namespace radl {
namespace {

// find_disk VOLUME LETTER: its device. NVMe controllers give the volume's id as their serial number, and the
// kernel numbers devices as it finds them; elsewhere the name is the one that was asked for. set_up LABEL
// VOLUME LETTER FSTYPE PATH
constexpr const char* kFunctions = R"sh(set -e
fail() { echo "$*" >&2; exit 1; }
find_disk() {
  # As the images of Azure and Google name them, by their place and by their name.
  for d in "$devices/disk/azure/scsi1/$1" "$devices/disk/azure/data/by-lun/${1#lun}" "$devices/disk/by-id/google-$1"; do
    if [ -e "$d" ]; then echo "$d"; return; fi
  done
  # Azure's second disk is the host's own, for what may be lost.
  case $1 in lun*) return 1;; esac
  v=$(printf %s "$1" | tr -d -)
  for s in "$blocks"/*/device/serial; do
    if [ -r "$s" ] && [ "$(tr -d ' \n' < "$s")" = "$v" ]; then
      d=${s%/device/serial}
      echo "$devices/${d##*/}"
      return
    fi
  done
  # virtio disks carry the beginning of the volume's id, as long as a serial number may be.
  for s in "$blocks"/*/serial; do
    if [ -r "$s" ]; then
      n=$(tr -d ' \n' < "$s")
      if [ ${#n} -ge 16 ]; then
        case $1 in "$n"*) d=${s%/serial}; echo "$devices/${d##*/}"; return;; esac
      fi
    fi
  done
  for d in "$devices/xvd$2" "$devices/sd$2" "$devices/vd$2"; do
    if [ -b "$d" ]; then echo "$d"; return; fi
  done
  return 1
}
asked() {
  r=0
  a=$(blkid -p -o value -s "$1" "$2") || r=$?
  case $r in 0|2) ;; *) fail "$l: blkid on $2 ends with $r";; esac
}
keep_in_fstab() {
  line=$1 m=$2
  if grep -qxF "$line" "$fstab"; then return; fi
  t=$(mktemp)
  m=$m u=${line%% *} awk '$1 ~ /^#/ || ($1 != ENVIRON["u"] && (ENVIRON["m"] == "none" || $2 != ENVIRON["m"]))' "$fstab" > "$t"
  printf '%s\n' "$line" >> "$t"
  cat "$t" > "$fstab"
  rm -f "$t"
}
set_up() {
  l=$1
  i=0
  until d=$(find_disk "$2" "$3"); do
    i=$((i + 1))
    [ "$i" -le "$patience" ] || fail "$l: volume $2 does not show as a device"
    sleep 1
  done
  asked TYPE "$d"
  type=$a
  if [ -z "$type" ]; then
    asked PTTYPE "$d"
    [ -z "$a" ] || fail "$l: volume $2 carries a partition table ($a): it is neither formatted nor mounted"
    if [ "$4" = swap ]; then
      mkswap "$d" > /dev/null
    else
      command -v "mkfs.$4" > /dev/null || fail "$l: the machine has no mkfs.$4: take another fstype, or an image that has it"
      "mkfs.$4" -q "$d"
    fi
    type=$4
  fi
  asked UUID "$d"
  [ -n "$a" ] || fail "$l: the file system on volume $2 has no UUID"
  if [ "$type" = swap ]; then
    [ "$4" = swap ] || fail "$l: volume $2 is swap, not $4"
    real=$(readlink -f "$d")
    grep -q "^$real " /proc/swaps || swapon "$d"
    keep_in_fstab "UUID=$a none swap sw,nofail 0 0" none
    return
  fi
  [ "$4" != swap ] || fail "$l: volume $2 carries a file system ($type): it is not made swap"
  mkdir -p "$5"
  if mountpoint -q "$5"; then
    here=$(mountpoint -d "$5")
    wanted=$(mountpoint -x "$(readlink -f "$d")")
    [ "$here" = "$wanted" ] || fail "$l: something else is mounted at $5"
  else
    mount "$d" "$5"
  fi
  keep_in_fstab "UUID=$a $5 $type defaults,nofail 0 2" "$5"
}
)sh";

constexpr int kDiskPatience = 60;  // seconds until a volume shows

bool is_plain(const std::string& path) {
  return path.starts_with('/') && path.find_first_of(" \t\n\\'\"") == path.npos;
}

bool is_word(const std::string& fstype) {
  return !fstype.empty() &&
         fstype.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.") == fstype.npos;
}

}  // namespace

std::vector<DiskMount> disks_to_mount(const ir::Node& node, const Json& attributes) {
  std::vector<DiskMount> mounts;
  const Json volumes = attributes.value("volumes", Json::object());
  for (const ir::Disk& disk : node.disks) {
    const bool swap = disk.fstype == "swap";
    if (disk.index == 0 || disk.device.empty() || disk.fstype.empty()) continue;
    if (disk.mount_path.empty() && !swap) continue;
    const char letter = disk.device.back();
    const std::string volume = volumes.value(std::string(1, letter), "");
    if (!volume.empty()) mounts.push_back({disk.index, volume, letter, disk.fstype, disk.mount_path});
  }
  std::stable_sort(mounts.begin(), mounts.end(),
                   [](const DiskMount& a, const DiskMount& b) { return a.path < b.path; });
  return mounts;
}

std::string disk_script(const std::vector<DiskMount>& disks, const DiskPlaces& places) {
  std::string script = fmt::format("devices={} blocks={} fstab={} patience={}\n", shell_quote(places.devices),
                                   shell_quote(places.blocks), shell_quote(places.fstab), kDiskPatience) +
                       kFunctions;
  for (const DiskMount& disk : disks)
    script += fmt::format("set_up disk.{} {} {} {} {}\n", disk.index, shell_quote(disk.volume), disk.letter,
                          shell_quote(disk.fstype), shell_quote(disk.path));
  return script;
}

Status mount_disks(Execution& execution, const std::string& address, const Context& context) {
  const ir::Node* node = execution.node(address);
  std::optional<ResourceRecord> record = execution.resource(address);
  if (!node || !record) return {};
  const std::vector<DiskMount> disks = disks_to_mount(*node, record->attributes);
  if (disks.empty()) return {};
  for (const DiskMount& disk : disks) {
    if (!is_word(disk.fstype) || (disk.fstype != "swap" && !is_plain(disk.path)))
      return invalid(
          fmt::format("{}: disk.{}: fstype = '{}', mount_path = '{}': a file system's name, and an "
                      "absolute path without spaces and quotes",
                      address, disk.index, disk.fstype, disk.path));
  }
  Result<Remote*> remote = execution.handle(address, context.stop).connect();
  if (!remote.ok()) return remote.status();
  const std::string command = "sh -c " + shell_quote(disk_script(disks));
  ExecOptions options;
  options.stop = context.stop;
  Result<ExecResult> ran = (*remote)->exec(
      "if [ \"$(id -u)\" = 0 ]; then " + command + "; else sudo -n " + command + "; fi", options);
  if (!ran.ok()) return ran.status();
  if (ran->exit_status == 0) return {};
  const std::string said(trim(ran->err));
  return invalid(fmt::format("{}: its disks cannot be mounted: {}", address,
                             said.empty() ? fmt::format("exit status {}", ran->exit_status) : said));
}

}  // namespace radl

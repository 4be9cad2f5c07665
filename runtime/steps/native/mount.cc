// mount: a file system at its place, now and after the next start of the machine.
#include <fmt/format.h>

#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

// A word of /etc/fstab and /proc/mounts (fstab(5)).
std::string fstab_word(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\')
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

// The mount point as such a word, for the shell. Below the login's home, converts only the rest.
std::string fstab_path(const std::string& path) { return shell_path(fstab_word(path)); }

// Takes the lines of mount point `path` out of /etc/fstab and adds `line` (shell words; "": none), at one
// blow: a machine whose fstab is cut short may not start again.
std::string rewrite_fstab(const std::string& path, const std::string& line) {
  return fmt::format(R"sh([ -e /etc/fstab ] || : > /etc/fstab
begin_file /etc/fstab
m={} awk '$1 ~ /^#/ || $2 != ENVIRON["m"]' /etc/fstab > "$t"
{}a=$(stat -c '%u:%g %a' /etc/fstab)
chown "${{a% *}}" "$t"
chmod "${{a#* }}" "$t"
mv -fT "$t" /etc/fstab
)sh",
                     path,
                     line.empty() ? "" : fmt::format("printf '%s %s %s %s 0 0\\n' {} >> \"$t\"\n", line));
}

class MountKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    return fmt::format(R"sh(m={0}
while read -r d p t o r; do
  if [ "$p" = "$m" ]; then say device "$d"; say fstype "$t"; fi
done < /proc/mounts
if [ -f /etc/fstab ]; then
  while read -r d p t o r || [ -n "$d" ]; do
    case $d in \#*) continue;; esac
    if [ "$p" = "$m" ]; then say fstab "$d $t $o"; fi
  done < /etc/fstab
fi
case {1} in
UUID=*|LABEL=*)
  r=0
  d=$(blkid -o device -t {1}) || r=$?
  case $r in 0|2) ;; *) fail "blkid: exit status $r";; esac
  say resolved "$d";;
esac
)sh",
                       fstab_path(item.resource->name), shell_quote(item.text("device")));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string device = item.text("device"), path = shell_path(item.resource->name),
                type = item.text("fstype", "auto"), options;
    for (const auto& one : list_of(item, "options")) options += (options.empty() ? "" : ",") + one;
    if (options.empty()) options = "defaults";
    std::string mounted = said(seen, "device"), line = said(seen, "fstab"),
                wanted_line =
                    fmt::format("{} {} {}", fstab_word(device), fstab_word(type), fstab_word(options));
    std::string point = fstab_path(item.resource->name);
    if (item.text("state", "mounted") == "unmounted") {
      if (!mounted.empty()) {
        work.changes.push_back(change(item, "state", "mounted", "unmounted"));
        work.script += fmt::format("umount {}\n", path);
      }
      if (!line.empty()) {
        work.changes.push_back(change(item, "fstab", line, nullptr));
        work.script += rewrite_fstab(point, "");
      }
      return work;
    }
    bool right = mounted == fstab_word(device) || (!mounted.empty() && mounted == said(seen, "resolved"));
    if (line != wanted_line)
      work.changes.push_back(change(item, "fstab", line.empty() ? Json() : Json(line), wanted_line));
    if (!right) {
      if (!mounted.empty()) return invalid(fmt::format("{}: '{}' is mounted there", item.label(), mounted));
      work.changes.push_back(change(item, "state", "unmounted", "mounted"));
      work.script += fmt::format("mkdir -p {0}\nmount -t {1} -o {2} {3} {0}\n", path, shell_quote(type),
                                 shell_quote(options), shell_quote(device));
    }
    // After it has been mounted: a machine with a device in fstab that does not mount may not start again.
    if (line != wanted_line) {
      work.script +=
          rewrite_fstab(point, fmt::format("{} {} {} {}", shell_quote(fstab_word(device)), point,
                                           shell_quote(fstab_word(type)), shell_quote(fstab_word(options))));
    }
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_mount_kind() { return std::make_unique<MountKind>(); }

}  // namespace radl::native

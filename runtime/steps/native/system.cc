// package, service, user, mount: what changes the machine as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

std::string get(const Seen& seen, const char* name) {
  auto found = seen.find(name);
  return found == seen.end() ? "" : found->second;
}

Status plain_name(const Item& item, std::string_view also) {
  const std::string& name = item.resource->name;
  bool good = !name.empty() && name[0] != '-';
  for (char c : name)
    good &= std::isalnum(static_cast<unsigned char>(c)) || also.find(c) != std::string_view::npos;
  return good ? Status() : invalid(item.label() + ": not a name that can stand here");
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

std::vector<std::string> list_of(const Item& item, const char* property) {
  std::vector<std::string> all;
  if (!item.has(property)) return all;
  const Json& value = item.resource->properties[property];
  if (value.is_string()) return {value.get<std::string>()};
  for (const auto& one : value) all.push_back(one.get<std::string>());
  return all;
}

class PackageKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "+-._:@/~"); !s.ok()) return s;
    std::string name = shell_quote(item.resource->name);
    std::string text = fmt::format(
        "if command -v dpkg-query >/dev/null; then say manager apt; s=$(dpkg-query -W "
        "-f='${{db:Status-Abbrev}} ${{Version}}' {0} 2>/dev/null) && "
        "case $s in ii*|hi*) say version \"${{s#* }}\";; esac\n"
        "elif command -v rpm >/dev/null; then say manager dnf; s=$(rpm -q --qf '%{{VERSION}}-%{{RELEASE}}' "
        "{0} 2>/dev/null) && say version \"$s\"\n"
        "elif command -v apk >/dev/null; then say manager apk; s=$(apk info -e -v {0} 2>/dev/null) && say "
        "version \"$s\"\nfi\n",
        name);
    if (item.text("state", "present") == "latest") {
      text += fmt::format(
          "command -v apt-cache >/dev/null && say candidate \"$(LC_ALL=C apt-cache policy {} | sed -n 's/^  "
          "Candidate: //p')\"\n",
          name);
    }
    return text;
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string state = item.text("state", "present"), now = get(seen, "version"),
                manager = get(seen, "manager"), version = item.text("version");
    while (now.starts_with(' ')) now.erase(0, 1);
    if (manager.empty())
      return Status(Code::Unsupported,
                    item.label() + ": the node has no package manager that is known (apt, dnf, apk)");
    work.deadline = std::chrono::minutes(30);
    Json before = now.empty() ? Json("absent") : Json(now);
    if (state == "absent") {
      if (now.empty()) return work;
      work.changes.push_back(change(item, "state", before, "absent"));
    } else if (!version.empty() ? now != version : now.empty()) {
      work.changes.push_back(change(item, "version", before, version.empty() ? "present" : version));
    } else if (state == "latest") {
      std::string candidate = get(seen, "candidate");
      if (candidate.empty() || candidate == now || candidate == "(none)") return work;
      work.changes.push_back(change(item, "version", before, candidate));
    } else {
      return work;
    }
    work.script = command(manager, state, item.resource->name, version);
    return work;
  }

 private:
  static std::string command(const std::string& manager, const std::string& state, const std::string& name,
                             const std::string& version) {
    if (manager == "apt") {
      std::string apt = "apt-get -y -q -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold";
      std::string prefix = "export DEBIAN_FRONTEND=noninteractive\n";
      if (state == "absent") return prefix + fmt::format("{} remove {}\n", apt, shell_quote(name));
      std::string what = shell_quote(version.empty() ? name : name + "=" + version);
      // The lists of a fresh machine are empty or old: bring them only when the package cannot be had
      // without.
      return prefix + fmt::format(
                          "{0} install --allow-downgrades {1} || {{ {0} update && {0} install "
                          "--allow-downgrades {1}; }}\n",
                          apt, what);
    }
    if (manager == "dnf") {
      std::string verb = state == "absent" ? "remove" : state == "latest" ? "upgrade" : "install";
      return fmt::format("$(command -v dnf || command -v yum) -y {} {}\n", verb,
                         shell_quote(version.empty() ? name : name + "-" + version));
    }
    std::string verb = state == "absent" ? "del" : state == "latest" ? "add -u" : "add";
    return fmt::format("apk {} {}\n", verb, shell_quote(version.empty() ? name : name + "=" + version));
  }
};

class ServiceKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "+-._:@\\"); !s.ok()) return s;
    return fmt::format(
        "n={}\nif [ -d /run/systemd/system ]; then say manager systemd; systemctl cat \"$n\" >/dev/null 2>&1 "
        "&& say there yes; "
        "say active \"$(systemctl is-active \"$n\" 2>/dev/null)\"; say enabled \"$(systemctl is-enabled "
        "\"$n\" 2>/dev/null)\"\n"
        "elif [ -x \"/etc/init.d/$n\" ]; then say manager init; say there yes; "
        "if \"/etc/init.d/$n\" status >/dev/null 2>&1 </dev/null; then say active active; else say active "
        "inactive; fi; "
        "if ls /etc/rc[2-5].d/S??\"$n\" >/dev/null 2>&1; then say enabled enabled; else say enabled "
        "disabled; fi\nelse say manager none; fi\n",
        shell_quote(item.resource->name));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string manager = get(seen, "manager"), name = shell_quote(item.resource->name);
    bool runs = get(seen, "active") == "active" || get(seen, "active") == "activating";
    bool enabled = get(seen, "enabled").starts_with("enabled");
    bool wants_running = item.text("state", "running") == "running";
    if (get(seen, "there") != "yes") {
      if (!wants_running && !item.flag("enabled", false)) return work;  // what is not there does not run
      if (manager == "none") {
        return Status(Code::Unsupported,
                      fmt::format("{}: systemd does not run on this node, and there is no /etc/init.d/{}",
                                  item.label(), item.resource->name));
      }
      return Status(Code::NotFound, fmt::format("{}: the node has no such service", item.label()));
    }
    bool systemd = manager == "systemd";
    auto act = [&](const char* verb) {
      work.script += systemd ? fmt::format("systemctl {} {}\n", verb, name)
                             : fmt::format("/etc/init.d/{} {}\n", name, verb);
    };
    if (item.has("enabled") && item.flag("enabled", false) != enabled) {
      bool enable = item.flag("enabled", false);
      work.changes.push_back(change(item, "enabled", enabled, enable));
      if (systemd)
        act(enable ? "enable" : "disable");
      else
        work.script += fmt::format("update-rc.d {} {}\n", name, enable ? "defaults" : "disable");
    }
    if (runs != wants_running) {
      work.changes.push_back(
          change(item, "state", runs ? "running" : "stopped", wants_running ? "running" : "stopped"));
      act(wants_running ? "start" : "stop");
    } else if (wants_running && item.flag("restart", false) && item.earlier_changed) {
      work.changes.push_back(change(item, "restart", "running", "running"));
      act("restart");
    }
    return work;
  }
};

class UserKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "-._"); !s.ok()) return s;
    return fmt::format(
        "n={}\ne=$(getent passwd \"$n\") && {{ say entry \"$e\"; say group \"$(id -gn \"$n\")\"; say groups "
        "\"$(id -Gn \"$n\")\"; "
        "h=$(printf %s \"$e\" | cut -d: -f6); [ -f \"$h/.ssh/authorized_keys\" ] && say keys \"$(base64 < "
        "\"$h/.ssh/authorized_keys\" | tr -d '\\n')\"; }}\n",
        shell_quote(item.resource->name));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override;

 private:
  static void plan_keys(const Item& item, const Seen& seen, Work& work);
};

Result<Work> UserKind::plan(const Item& item, const Seen& seen, const Facts&) const {
  Work work;
  std::string name = shell_quote(item.resource->name), entry = get(seen, "entry");
  bool there = !entry.empty();
  if (item.text("state", "present") == "absent") {
    if (!there) return work;
    work.changes.push_back(change(item, "state", "present", "absent"));
    work.script = fmt::format("userdel {}\n", name);
    return work;
  }
  std::vector<std::string> fields;
  std::istringstream parts(entry);
  for (std::string field; std::getline(parts, field, ':');) fields.push_back(field);
  fields.resize(7);
  if (!there) {
    work.changes.push_back(change(item, "state", "absent", "present"));
    work.script = "useradd -m";
    if (item.flag("system", false)) work.script += " -r";
  }
  std::string modify;
  auto option = [&](const char* property, const char* flag, const std::string& now,
                    const std::string& wanted) {
    if (wanted.empty() || (there && now == wanted)) return;
    if (there) work.changes.push_back(change(item, property, now, wanted));
    (there ? modify : work.script) += fmt::format(" {} {}", flag, shell_quote(wanted));
  };
  option("uid", "-u", fields[2], item.has("uid") ? fmt::format("{:.0f}", item.number("uid", 0)) : "");
  option("group", "-g", get(seen, "group"), item.text("group"));
  option("home", "-d", fields[5], item.text("home"));
  option("shell", "-s", fields[6], item.text("shell"));
  auto have = words(get(seen, "groups"));
  std::string missing;
  for (const auto& group : list_of(item, "groups")) {
    if (std::find(have.begin(), have.end(), group) == have.end())
      missing += (missing.empty() ? "" : ",") + group;
  }
  if (!missing.empty()) {
    if (there) work.changes.push_back(change(item, "groups", get(seen, "groups"), "+ " + missing));
    (there ? modify : work.script) += fmt::format(" {} {}", there ? "-a -G" : "-G", shell_quote(missing));
  }
  if (!there)
    work.script += " " + name + "\n";
  else if (!modify.empty())
    work.script += "usermod" + modify + " " + name + "\n";
  plan_keys(item, seen, work);
  return work;
}

void UserKind::plan_keys(const Item& item, const Seen& seen, Work& work) {
  auto decoded = get(seen, "keys");
  std::vector<std::string> missing;
  std::string text;
  if (auto raw = base64_decode(decoded)) text = "\n" + *raw + "\n";
  for (const auto& key : list_of(item, "authorized_keys")) {
    if (text.find("\n" + key + "\n") == std::string::npos) missing.push_back(key);
  }
  if (missing.empty()) return;
  work.changes.push_back(change(item, "authorized_keys", nullptr, fmt::format("+ {} lines", missing.size())));
  std::string name = shell_quote(item.resource->name);
  work.script += fmt::format(
      "h=$(getent passwd {0} | cut -d: -f6)\nmkdir -p \"$h/.ssh\"\nchmod 0700 \"$h/.ssh\"\n", name);
  for (const auto& key : missing)
    work.script += fmt::format("printf '%s\\n' {} >> \"$h/.ssh/authorized_keys\"\n", shell_quote(key));
  work.script += fmt::format("chmod 0600 \"$h/.ssh/authorized_keys\"\nchown -R {0}: \"$h/.ssh\"\n", name);
}

class MountKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    std::string path = shell_path(item.resource->name);
    return fmt::format(
        "m={0}; [ -d \"$m\" ] && say folder yes\nwhile read -r d p t o r; do if [ \"$p\" = \"$m\" ]; then "
        "say "
        "device \"$d\"; say fstype \"$t\"; fi; done < /proc/mounts\n"
        "[ -f /etc/fstab ] && while read -r d p t o r; do case $d in \\#*) continue;; esac; [ \"$p\" = "
        "\"$m\" ] && say fstab \"$d $t $o\"; done < /etc/fstab\n"
        "case {1} in UUID=*|LABEL=*) say resolved \"$(blkid -o device -t {1} 2>/dev/null)\";; esac\n",
        path, shell_quote(item.text("device")));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string device = item.text("device"), path = shell_path(item.resource->name),
                type = item.text("fstype", "auto"), options;
    for (const auto& one : list_of(item, "options")) options += (options.empty() ? "" : ",") + one;
    if (options.empty()) options = "defaults";
    std::string mounted = get(seen, "device"), line = get(seen, "fstab"),
                wanted_line = fmt::format("{} {} {}", device, type, options);
    std::string drop = fmt::format("{{ awk -v m={} '$1 ~ /^#/ || $2 != m' /etc/fstab", path);
    if (item.text("state", "mounted") == "unmounted") {
      if (!mounted.empty())
        work.changes.push_back(change(item, "state", "mounted", "unmounted")),
            work.script += fmt::format("umount {}\n", path);
      if (!line.empty()) {
        work.changes.push_back(change(item, "fstab", line, nullptr));
        work.script +=
            drop + "; } > /etc/fstab.radl && cat /etc/fstab.radl > /etc/fstab && rm /etc/fstab.radl\n";
      }
      return work;
    }
    if (line != wanted_line) {
      work.changes.push_back(change(item, "fstab", line.empty() ? Json() : Json(line), wanted_line));
      work.script += "touch /etc/fstab\n" + drop +
                     fmt::format(
                         "; printf '%s %s %s %s 0 0\\n' {} {} {} {}; }} > /etc/fstab.radl && cat "
                         "/etc/fstab.radl > /etc/fstab && rm /etc/fstab.radl\n",
                         shell_quote(device), path, shell_quote(type), shell_quote(options));
    }
    bool right = mounted == device || (!mounted.empty() && mounted == get(seen, "resolved"));
    if (!right) {
      if (!mounted.empty()) return invalid(fmt::format("{}: '{}' is mounted there", item.label(), mounted));
      work.changes.push_back(change(item, "state", "unmounted", "mounted"));
      work.script += fmt::format("mkdir -p {0}\nmount -t {1} -o {2} {3} {0}\n", path, shell_quote(type),
                                 shell_quote(options), shell_quote(device));
    }
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_package_kind() { return std::make_unique<PackageKind>(); }
std::unique_ptr<Kind> make_service_kind() { return std::make_unique<ServiceKind>(); }
std::unique_ptr<Kind> make_user_kind() { return std::make_unique<UserKind>(); }
std::unique_ptr<Kind> make_mount_kind() { return std::make_unique<MountKind>(); }

}  // namespace radl::native

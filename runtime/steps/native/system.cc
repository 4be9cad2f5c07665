// package, service.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

class PackageKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "+-._:@/~"); !s.ok()) return s;
    std::string name = shell_quote(item.resource->name);
    // Each manager has one exit status for "not installed"; any other is its own failure.
    std::string text = fmt::format(R"sh(n={}
installed() {{
  r=0
  s=$("$@") || r=$?
  [ $r -le 1 ] || fail "$1: exit status $r"
  return $r
}}
if command -v dpkg-query >/dev/null; then
  say manager apt
  if installed dpkg-query -W -f='${{db:Status-Abbrev}} ${{Version}}' "$n"; then
    case $s in ii*|hi*) say version "${{s#* }}";; esac
  fi
elif command -v rpm >/dev/null; then
  say manager dnf
  if installed rpm -q --qf '%{{VERSION}}-%{{RELEASE}}' "$n"; then say version "$s"; fi
elif command -v apk >/dev/null; then
  say manager apk
  if installed apk info -e -v "$n"; then say version "$s"; fi
fi
)sh",
                                   name);
    if (item.text("state", "present") == "latest") {
      text += R"sh(if command -v apt-cache >/dev/null; then
  c=$(LC_ALL=C apt-cache policy "$n")
  c=$(printf '%s\n' "$c" | sed -n 's/^  Candidate: //p')
  say candidate "$c"
fi
)sh";
    }
    return text;
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string state = item.text("state", "present"), now = said(seen, "version"),
                manager = said(seen, "manager"), version = item.text("version");
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
      std::string candidate = said(seen, "candidate");
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
                          "if ! {0} install --allow-downgrades {1}; then\n{0} update\n{0} install "
                          "--allow-downgrades {1}\nfi\n",
                          apt, what);
    }
    if (manager == "dnf") {
      std::string verb = state == "absent" ? "remove" : "install";
      return fmt::format("d=$(command -v dnf || command -v yum)\n\"$d\" -y {} {}\n", verb,
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
    return fmt::format(R"sh(n={}
if [ -d /run/systemd/system ]; then
  say manager systemd
  s=$(systemctl show -p LoadState -p ActiveState -p UnitFileState -- "$n")
  e=
  for x in $s; do
    case $x in
    LoadState=not-found) ;;
    LoadState=*) say there yes;;
    ActiveState=*) say active "${{x#*=}}";;
    UnitFileState=generated) e=$(systemctl is-enabled "$n" 2>/dev/null) || :;;
    UnitFileState=*) e=${{x#*=}};;
    esac
  done
  say enabled "$e"
elif [ -x "/etc/init.d/$n" ]; then
  say manager init
  say there yes
  if "/etc/init.d/$n" status >/dev/null 2>&1; then say active active; else say active inactive; fi
  set -- /etc/rc[2-5].d/S??"$n"
  if [ -e "$1" ] || [ -L "$1" ]; then say enabled enabled; else say enabled disabled; fi
else
  say manager none
fi
)sh",
                       shell_quote(item.resource->name));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    std::string manager = said(seen, "manager"), name = shell_quote(item.resource->name);
    bool runs = said(seen, "active") == "active" || said(seen, "active") == "activating";
    bool enabled = said(seen, "enabled").starts_with("enabled");
    bool wants_running = item.text("state", "running") == "running";
    if (said(seen, "there") != "yes") {
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

}  // namespace

std::unique_ptr<Kind> make_package_kind() { return std::make_unique<PackageKind>(); }
std::unique_ptr<Kind> make_service_kind() { return std::make_unique<ServiceKind>(); }

}  // namespace radl::native

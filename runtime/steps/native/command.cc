// command, wait_for: what runs, or waits for something that runs.
#include <fmt/format.h>

#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/remote.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

std::string folder_of(const Item& item) {
  return item.has("directory") ? shell_path(item.text("directory")) : "\"$HOME\"";
}

// `cd`, locale and variables of a command, as shell text.
std::string surroundings(const Item& item) {
  std::string text = fmt::format("cd {}\n{}", folder_of(item), kLoginLocale);
  if (!item.has("environment")) return text;
  for (const auto& [name, value] : item.resource->properties["environment"].items()) {
    text += fmt::format("{}={}\nexport {}\n", name,
                        shell_quote(value.is_string() ? value.get<std::string>() : value.dump()), name);
  }
  return text;
}

Status good_variable_names(const Item& item) {
  if (!item.has("environment")) return {};
  for (const auto& [name, value] : item.resource->properties["environment"].items()) {
    bool good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    for (char c : name) good &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!good) return invalid(fmt::format("{}: '{}' cannot be a variable's name", item.label(), name));
  }
  return {};
}

class CommandKind : public Kind {
 public:
  Result<std::string> look(const Item& item) const override {
    if (Status s = good_variable_names(item); !s.ok()) return s;
    if (item.has("creates")) {
      return where_there(item, fmt::format("[ -e {} ]", path_below(item.text("creates"))));
    }
    if (item.has("unless")) {
      return where_there(item,
                         fmt::format("/bin/sh -c {} >/dev/null 2>&1", shell_quote(item.text("unless"))));
    }
    return std::string();
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    bool observable = item.has("creates") || item.has("unless");
    if (observable ? said(seen, "done") == "yes" : !item.step_is_new) return work;
    work.changes.push_back(
        change(item, "run", nullptr, item.has("creates") ? "creates " + item.text("creates") : "done"));
    work.deadline = std::chrono::milliseconds(static_cast<long long>(item.number("timeout", 600) * 1000));
    work.once = !observable;
    work.retries = static_cast<int>(item.number("retries", 0));
    work.script =
        surroundings(item) + fmt::format("/bin/sh -c {} </dev/null\n", shell_quote(item.resource->name));
    if (item.has("creates")) {
      work.script += fmt::format(
          "[ -e {} ] || {{ echo 'the command ended with 0 but did not create '{} >&2; exit 1; }}\n",
          path_below(item.text("creates")), shell_quote(item.text("creates")));
    }
    return work;
  }

 private:
  // Reports the command as done if the check succeeds in the command's folder. If that folder does not exist
  // yet, it is not done.
  static std::string where_there(const Item& item, const std::string& check) {
    return fmt::format("if [ -d {} ]; then\n{}if {}; then say done yes; fi\nfi\n", folder_of(item),
                       surroundings(item), check);
  }
  // Relative to the folder in which the command runs, which is the present one by then.
  static std::string path_below(const std::string& path) {
    return path.starts_with('/') || path.starts_with('~') ? shell_path(path) : shell_quote("./" + path);
  }
};

class WaitForKind : public Kind {
 public:
  Result<std::string> look(const Item& item) const override {
    return fmt::format("if {}; then say done yes; fi\n", check(item));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    if (said(seen, "done") == "yes") return work;
    double timeout = item.number("timeout", 60), every = item.number("every", 1);
    work.counts = false;
    work.changes.push_back(change(item, "wait", "not ready", "ready"));
    work.deadline = std::chrono::milliseconds(static_cast<long long>((timeout + 30) * 1000));
    work.script = fmt::format(
        "b=$(date +%s)\nuntil {}; do\n  n=$(date +%s)\n"
        "  [ $((n - b)) -lt {:.0f} ] || fail 'not ready within {:g} s'\n  sleep {:g}\ndone\n",
        check(item), std::max(timeout, 1.0), timeout, every);
    return work;
  }

 private:
  static std::string check(const Item& item) {
    if (item.has("path")) return fmt::format("[ -e {} ]", shell_path(item.text("path")));
    if (item.has("command"))
      return fmt::format("( {}cd \"$HOME\" && /bin/sh -c {} ) >/dev/null 2>&1 </dev/null", kLoginLocale,
                         shell_quote(item.text("command")));
    if (item.has("url")) {
      std::string url = shell_quote(item.text("url"));
      return fmt::format(
          "{{ if command -v curl; then curl -gfsS -o /dev/null --max-time 10 {0}; elif command -v wget; then "
          "wget -q -O /dev/null -T 10 -t 1 {0}; else python3 -c 'import sys, urllib.request; "
          "urllib.request.urlopen(sys.argv[1], timeout=10)' {0}; fi; }} >/dev/null 2>&1 </dev/null",
          url);
    }
    std::string host = item.text("host", "127.0.0.1");
    int port = static_cast<int>(item.number("port", 0));
    // No tool for this is everywhere: bash's own, python, netcat.
    return fmt::format(
        "{{ if command -v bash; then timeout 3 bash -c 'exec 3<>\"/dev/tcp/$1/$2\"' bash {0} {1}; "
        "elif command -v python3; then python3 -c 'import socket, sys; "
        "socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)' {0} {1}; "
        "else nc -z -w 3 {0} {1}; fi; }} >/dev/null 2>&1 </dev/null",
        shell_quote(host), port);
  }
};

}  // namespace

std::unique_ptr<Kind> make_command_kind() { return std::make_unique<CommandKind>(); }
std::unique_ptr<Kind> make_wait_for_kind() { return std::make_unique<WaitForKind>(); }

}  // namespace radl::native

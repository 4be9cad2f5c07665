#include "runtime/net/sudo.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/base/sudo_secret.h"
#include "runtime/net/lease.h"

namespace radl {
namespace {

// $1: the login's shell, $2: root's. Looks once a second: a signal could not cross from one user to the
// other. Root's shell may have been ended by sudo before that; what it began is still in its session.
constexpr const char* kWatch = R"sh(
{ read -r l < "/proc/$2/stat"; } 2>/dev/null || exit 0
login=$1 root=$2
set -- ${l##*) }
session=$4
while kill -0 "$login" 2>/dev/null && kill -0 "$root" 2>/dev/null; do sleep 1; done
set -- "$session" ""
)sh";

// $1: the login's shell, $2: the watcher, $3: the line before the script. If sudo did not ask, the password
// precedes that line and is skipped. The watcher is not a child of this shell, so it does not end itself; it
// is dismissed when the script ends normally, which may leave a service running.
constexpr const char* kBegin = R"sh(
watcher=$( setsid /bin/sh -c "$2" sh "$1" $$ </dev/null >/dev/null 2>&1 & echo $! )
r=1
while IFS= read -r line; do [ "$line" != "$3" ] || { /bin/sh -s; r=$?; break; }; done
kill "$watcher" 2>/dev/null
exit $r
)sh";

}  // namespace

const char* const kSudoState = R"sh(
sudo_state() {
  command -v sudo >/dev/null 2>&1 || { echo no; return; }
  if sudo_words=$(LC_ALL=C sudo -n true 2>&1 </dev/null); then echo passwordless; return; fi
  case $sudo_words in
    *"must have a tty"*) echo tty ;;
    *"password is required"*|*"terminal is required"*) echo password ;;
    *) printf 'refused %s\n' "$(printf '%s' "$sudo_words" | tr '\n\t' '  ')" ;;
  esac
}
)sh";

std::string sudo_refusal(const std::string& state, const std::string& user) {
  if (state == "no") return "user '" + user + "' has no sudo";
  if (state == "tty")
    return "sudo lets user '" + user +
           "' run commands from a terminal alone (requiretty): add \"Defaults:" + user +
           " !requiretty\" to sudoers";
  if (state == "password") return "sudo asks user '" + user + "' for a password";
  if (state.starts_with("refused")) return "sudo refuses user '" + user + "':" + state.substr(7);
  return "";
}

std::string sudo_password(const nlohmann::json& written, const std::map<std::string, std::string>* secrets) {
  if (!secrets) return "";
  const bool named = written.is_object() && written.contains("$secret");
  for (const std::string& name :
       {named ? written.at("$secret").get<std::string>() : "", std::string(kSudoSecret)}) {
    auto known = secrets->find(name);
    if (known != secrets->end() && !known->second.empty()) return known->second;
  }
  return "";
}

std::string sudo_takes(const std::string& password) {
  // printf is a part of the shell: no process has the password among its arguments.
  return fmt::format("printf '%s\\n' {} | sudo -k -S -p '' true >/dev/null 2>&1", shell_quote(password));
}

SudoShell sudo_shell(const std::string& password, const std::string& home) {
  const std::string mark = "radl-" + to_hex(random_bytes(8));
  return {fmt::format("sudo -k -S -p '' env HOME={} /bin/sh -c {} sh $$ {} {}", shell_quote(home),
                      shell_quote(kBegin), shell_quote(kWatch + end_tree_script()), mark),
          password + "\n" + mark + "\n"};
}

}  // namespace radl

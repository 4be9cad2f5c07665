#include "runtime/steps/native/node_shell.h"

#include <fmt/format.h>

#include "common/shell_quote.h"
#include "runtime/net/sudo.h"

namespace radl::native {
namespace {

// Says who we are on the node. A login without a home folder is refused: its files would be the machine's.
constexpr const char* kWho = R"sh(
case $HOME in /*) ;; *) echo "the login has no home folder, HOME is '$HOME'" >&2; exit 1;; esac
u=$(id -u) || exit 1
n=$(id -un) || n=$u
s=-
if [ "$u" != 0 ]; then s=$(sudo_state); fi
if [ "$s" = password ] && password_is_taken; then s=given; fi
printf 'facts\t%s\t%s\t%s\t%s\n' "$u" "$n" "$HOME" "$s"
)sh";

}  // namespace

NodeShell::NodeShell(const NodeHandle& node, const ir::Secrets* secrets, Facts& facts, std::string name)
    : node_(node), facts_(facts), name_(std::move(name)) {
  if (!node.node) return;
  auto written = node.node->secrets.find("password");
  password_ = sudo_password(written == node.node->secrets.end() ? Json() : *written->second, secrets);
}

Status NodeShell::connect() {
  auto remote = node_.connect();
  if (!remote) return std::move(remote).status().at(node_.address);
  remote_ = *remote;
  return {};
}

std::string NodeShell::asking_who() const {
  return (password_.empty() ? "password_is_taken() { false; }\n"
                            : "password_is_taken() { " + sudo_takes(password_) + "; }\n") +
         kSudoState + kWho;
}

void NodeShell::take_facts(const std::vector<std::string>& parts) {
  facts_.is_root = parts[1] == "0";
  facts_.user = parts[2];
  facts_.home = parts[3];
  sudo_ = parts[4];
  facts_.can_sudo = sudo_ == "passwordless" || sudo_ == "given";
}

std::string NodeShell::command(ExecOptions& options) const {
  if (!facts_.can_sudo || facts_.is_root) return "/bin/sh -s";
  if (sudo_ == "passwordless") return fmt::format("sudo -n env HOME={} /bin/sh -s", shell_quote(facts_.home));
  SudoShell shell = sudo_shell(password_, facts_.home);
  options.stdin_bytes.insert(0, shell.stdin_begin);
  return std::move(shell.command);
}

Result<ExecResult> NodeShell::run(const char* what, const ExecOptions& options) {
  ExecOptions with = options;
  const std::string shell = command(with);
  return exec(shell, with, what);
}

Result<ExecResult> NodeShell::run_under(const Lease& lease, const std::string& what,
                                        const ExecOptions& options) {
  ExecOptions with = options;
  const std::string shell = command(with);
  return exec(under_lease(lease, shell), with, what);
}

Result<ExecResult> NodeShell::exec(const std::string& command, const ExecOptions& options,
                                   const std::string& what) {
  auto result = remote_->exec(command, options);
  if (result) return result;
  Status why = std::move(result).status();
  // A command that used up its time limit would do so again.
  if (why.code() == Code::Timeout && options.stop.check().ok()) why = invalid(why.message());
  return std::move(why).at(fmt::format("{}: {}", name_, what));
}

Status NodeShell::no_root(const std::string& label) const {
  if (!refusal().empty()) return {Code::Auth, fmt::format("{}: needs root, and {}", label, refusal())};
  Status none(Code::Auth, fmt::format("{}: needs root, and {}", label, sudo_refusal(sudo_, facts_.user)));
  if (sudo_ != "password") return none;
  return std::move(none).with_hint(
      "give the password: disk.0.os.credentials.password of the system, RADL_SUDO_PASSWORD, or "
      "--ask-sudo-password");
}

std::string NodeShell::refusal() const {
  if (password_.empty() || facts_.root() || sudo_ != "password") return "";
  return fmt::format("sudo on the node does not take the password of user '{}'", facts_.user);
}

}  // namespace radl::native

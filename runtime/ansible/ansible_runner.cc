#include "runtime/ansible/ansible_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "common/lines.h"
#include "common/process/process.h"
#include "runtime/ansible/callback_plugin.h"
#include "runtime/ansible/configuration.h"
#include "runtime/ansible/galaxy.h"
#include "runtime/ansible/inventory.h"
#include "runtime/ansible/playbook.h"
#include "runtime/ansible/private_folder.h"
#include "runtime/net/node_path.h"
#include "runtime/net/sudo.h"
#include "runtime/steps/node_lease.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

namespace fs = std::filesystem;
using namespace recipes;

constexpr int kFailureLines = 100;  // of a task that fails: 20 of each stream and of its module
constexpr size_t kLongestEvent = size_t{16} << 20;  // of Ansible: it holds a task's whole output
constexpr size_t kLongestMessage = 4096;  // of a `debug` in events; a longer one is in the log alone
// The facts of all machines, for recipes that name some; cached between steps.
constexpr const char* kGatherFacts =
    "- hosts: all\n  gather_facts: true\n  ignore_unreachable: true\n  tasks: []\n";

struct TaskFailure {
  std::string task, head, text;
  bool unreachable = false;
};

// In one run.
struct ToldOptions {
  std::atomic<bool> once{false};
};

class AnsibleRun {
 public:
  AnsibleRun(const StepContext& context, const ir::Step& step, const NodeHandle& node, bool check)
      : context_(context), step_(step), node_(node), check_(check), log_(context, step, node.address) {}

  Result<StepOutcome> run() {
    if (find_program(context_.context->environment, "ansible-playbook").empty()) {
      return Status(Code::NotFound, where() + ": ansible-playbook is not installed on this computer")
          .with_hint("install ansible-core");
    }
    tell_options();
    Status ready = make_folders();
    if (ready.ok()) ready = look();
    if (ready.ok())
      ready = install_requirements(*context_.program, shared(), *context_.context,
                                   [&](const std::string& line) { log_.line(line); });
    if (ready.ok()) ready = write_files();
    if (!ready.ok()) return std::move(ready).at(where());
    auto ran = play();
    close_masters();
    if (!ran) return std::move(ran).status().at(where());
    log_.end_output();
    if (ran->exit_status == 0 && !failure_) {
      outcome_.output = {{"digest", step_.digest}, {"tasks", tasks_}};
      return std::move(outcome_);
    }
    return failed(*ran);
  }

 private:
  std::string where() const {
    return fmt::format("{}: recipe '{}', step {}", node_.address, step_.recipe, step_.group);
  }
  // Kept between steps: roles, collections, facts, and every recipe under its name.
  std::string shared() const { return context_.context->work_directory + "/ansible"; }
  std::string own(const std::string& name) const { return private_.path() + "/" + name; }

  // Vault passwords, the inventory and sockets are stored beside the state, so that destroy always removes
  // them.
  Status make_folders() {
    if (Status s = make_directories(shared(), 0700); !s.ok()) return s;
    std::string id = sha256_hex(shared() + "\n" + step_.id + "\n" + node_.address).substr(0, 12);
    const char* kind = check_ ? "check-" : "run-";  // only a run has the state's lock
    if (Status s = private_.make(shared() + "/" + kind + id, !check_); !s.ok()) return s;
    return sockets_.open(own("sockets"));
  }

  void tell_options() {
    ToldOptions& told = context_.context->shared->of<ToldOptions>();
    if (told.once.exchange(true)) return;
    auto version = context_.program->options.find("ansible_version");
    if (version != context_.program->options.end()) {
      context_.context->log(fmt::format(
          "option ansible_version = {}: the installed ansible-playbook is used, whatever its version",
          version->second->dump()));
    }
    for (const auto& host : context_.program->ansible_hosts) {
      context_.context->log(
          fmt::format("ansible '{}': recipes are run from this computer, not from {}", host.name, host.host));
    }
  }

  Status look() {
    auto remote = node_.connect();
    if (!remote) return remote.status();
    if (!check_) {
      if (Status s = take_node_lease(context_, lease_, node_.address, **remote, log_); !s.ok()) return s;
    }
    ExecOptions options;
    options.stop = context_.context->stop;
    const std::string password = password_for_sudo();
    options.stdin_bytes =
        "password_is_taken() { " + (password.empty() ? std::string("false") : sudo_takes(password)) +
        "; }\n" + kSudoState +
        "id -u; id -un; s=$(sudo_state); if [ \"$s\" = password ] && password_is_taken; then s=given; fi; "
        "echo "
        "\"$s\"; "
        "for p in /usr/bin/python3 /usr/local/bin/python3 /usr/libexec/platform-python \"$(command -v "
        "python3)\"; do [ -x \"$p\" ] && { echo \"$p\"; exit; }; done; echo -\n";
    auto result = exec_for_data(**remote, "exec /bin/sh -s", options);
    if (!result) return result.status();
    std::istringstream lines(result->out);
    std::string uid, user, sudo;
    for (std::string* line : {&uid, &user, &sudo}) std::getline(lines, *line);
    std::getline(lines, access_.python);
    access_.is_root = uid == "0";
    access_.has_sudo = sudo == "passwordless" || sudo == "given";
    if (sudo == "given") access_.sudo_password = password;
    if (access_.python == "-" || access_.python.empty())
      return {Code::Unsupported, "the node has no python3, which Ansible needs there"};
    if (!access_.is_root && !access_.has_sudo)
      log_.line(
          fmt::format("`become` is off: {}", password.empty() || sudo != "password"
                                                 ? sudo_refusal(sudo, user)
                                                 : "sudo does not take the password of user '" + user + "'"));
    return {};
  }

  std::string password_for_sudo() const {
    auto written = node_.node->secrets.find("password");
    return sudo_password(written == node_.node->secrets.end() ? Json() : *written->second,
                         context_.context->secrets);
  }

  // The secret in a node's feature; empty if there is none.
  std::string secret(const char* name) const {
    auto found = node_.node->secrets.find(name);
    if (found == node_.node->secrets.end() || !ir::is_secret(found->second) || !context_.context->secrets)
      return "";
    auto value = context_.context->secrets->find(found->second->at("$secret").get<std::string>());
    return value == context_.context->secrets->end() ? "" : value->second;
  }

  Status write_files() {
    for (const auto& folder :
         {shared() + "/recipes", shared() + "/facts", own("callback"), shared() + "/recipes/shell_plugins"}) {
      if (Status s = make_directories(folder, 0700); !s.ok()) return s;
    }
    std::vector<NodeHandle> all_nodes = context_.all_nodes();
    InventoryInput input{context_.context->infrastructure,
                         context_.program,
                         &all_nodes,
                         context_.context->secrets,
                         ssh::key_places(context_.context->environment, context_.context->work_directory),
                         node_.address,
                         access_};
    // All recipes are in one folder under their names, so that one can include another.
    std::set<std::string> written;  // a recipe has a step on every node
    for (const auto& other : context_.program->steps) {
      if (other.kind != ir::StepKind::Ansible || other.recipe.find('/') != std::string::npos) continue;
      if (!written.insert(other.recipe).second) continue;
      if (Status s = write_once(shared() + "/recipes/" + other.recipe + ".yml", other.body); !s.ok())
        return s;
    }
    // Ansible searches for shell plugins only beside the playbook.
    for (const auto& [name, content] :
         {std::pair<std::string, std::string>{"shell_plugins/radl_sh.py", shell_plugin()},
          {".facts.yml", kGatherFacts}}) {
      if (Status s = write_once(shared() + "/recipes/" + name, content); !s.ok()) return s;
    }
    vault_ = secret("vault.password");
    if (!vault_.empty()) {
      if (Status s = write_file_atomic(own("vault"), vault_ + "\n", 0600); !s.ok()) return s;
    }
    auto body = decrypted();
    if (!body) return body.status();
    auto playbook = make_playbook(*body, {host_name(node_), !access_.is_root && access_.has_sudo});
    if (!playbook) return playbook.status();
    gather_ = uses_facts(*body);
    playbook_ =
        fmt::format("{}/recipes/.{}-{}.yml", shared(), step_.recipe.substr(step_.recipe.rfind('/') + 1),
                    sha256_hex(step_.id).substr(0, 12));
    std::vector<std::pair<std::string, std::string>> files{
        {playbook_, *playbook},
        {own("inventory.yml"), make_inventory(input).dump(1) + "\n"},
        {own("known_hosts"), known_hosts(all_nodes)},
        {own("callback/radl.py"), kCallbackPlugin},
        {own("ansible.cfg"),
         make_configuration({private_.path(), shared(), roles_of_project(), sockets_.path()})}};
    for (const auto& [path, content] : files) {
      if (Status s = write_file_atomic(path, content, 0600); !s.ok()) return s;
    }
    // What a recipe runs on a node is entered there, so that the next run finds it.
    return write_file_atomic(own("ssh"), ssh_under_lease(lease_), 0700);
  }

  std::string roles_of_project() const {
    const auto& sources = context_.program->sources;
    return fs::path(sources.empty() ? "." : sources[0].path).parent_path().string() + "/roles";
  }

  std::string shell_plugin() const {
    std::string text = kShellPlugin, login = node_.attributes.value("user", "");
    for (size_t at; (at = text.find("@LOGIN@")) != std::string::npos;) text.replace(at, 7, login);
    return text;
  }

  static Status write_once(const std::string& path, const std::string& content) {
    auto there = read_file(path);
    return there && *there == content ? Status() : write_file_atomic(path, content, 0600);
  }

  // A recipe that is encrypted as a whole.
  Result<std::string> decrypted() {
    size_t begin = step_.body.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || step_.body.compare(begin, 14, "$ANSIBLE_VAULT") != 0) return step_.body;
    if (vault_.empty())
      return Status(Code::Auth, "the recipe is encrypted, and the system has no vault.password");
    if (Status s = write_file_atomic(own("recipe.vault"), step_.body.substr(begin), 0600); !s.ok()) return s;
    auto ran = run_process(
        context_.context->environment,
        {.argv = {"ansible-vault", "view", "--vault-password-file", own("vault"), own("recipe.vault")},
         .environment = {{"PAGER", "cat"}},
         .inherited = kAnsibleVariables,
         .stop = context_.context->stop});
    if (!ran) return ran.status();
    if (ran->exit_status != 0) return Status(Code::Auth, "vault.password does not open the encrypted recipe");
    if (ran->out_cut) return invalid("the encrypted recipe is too large");
    return ran->out;
  }

  Result<ProcessResult> play() {
    ProcessRequest request;
    request.argv = {"ansible-playbook"};
    if (gather_) request.argv.push_back(shared() + "/recipes/.facts.yml");
    request.argv.push_back(playbook_);
    if (!vault_.empty()) request.argv.insert(request.argv.end(), {"--vault-password-file", own("vault")});
    if (check_) request.argv.insert(request.argv.end(), {"--check", "--diff"});
    request.directory = shared() + "/recipes";
    request.environment = {
        {"ANSIBLE_CONFIG", own("ansible.cfg")},        {"ANSIBLE_NOCOLOR", "1"},
        {"ANSIBLE_FORCE_COLOR", std::nullopt},         {"ANSIBLE_STDOUT_CALLBACK", std::nullopt},
        {"ANSIBLE_VAULT_PASSWORD_FILE", std::nullopt}, {"PYTHONDONTWRITEBYTECODE", "1"}};
    request.inherited = kAnsibleVariables;
    request.deadline = std::chrono::milliseconds(
        static_cast<long long>(std::max(1.0, context_.program->max_time_seconds) * 1000));
    request.stop = context_.context->stop;
    Lines lines(kLongestEvent);
    request.on_output = [&](std::string_view piece, bool is_stderr) {
      if (is_stderr) return log_.output(piece);
      lines.add(piece, [&](std::string_view line, bool) { take(std::string(line)); });
    };
    auto ran = run_process(context_.context->environment, request);
    if (!ran && !check_) end_remote_task();
    // What took all its time will take it again.
    if (!ran && ran.status().code() == Code::Timeout) return invalid(ran.status().message());
    return ran;
  }

  // ansible-playbook was stopped, but its processes on the node continue until they are ended.
  void end_remote_task() {
    auto remote = node_.connect();
    if (!remote) return;
    Status ended = take_lease(**remote, lease_, Stop().within(std::chrono::seconds(30)),
                              [&](const std::string& line) { log_.line(line); });
    if (!ended.ok()) log_.line(ended.text());
  }

  void take(const std::string& line) {
    if (!line.starts_with("@radl ")) return log_.output(line + "\n");
    Json event = Json::parse(line.substr(6), nullptr, false);
    if (!event.is_object()) return log_.output(line + "\n");
    std::string state = json::text_of(event, "state"), task = log_.mask(json::text_of(event, "task")),
                text = log_.mask(json::text_of(event, "text"));
    if (json::text_of(event, "action") == "gather_facts" && state == "ok") return;
    ++tasks_;
    log_.line(fmt::format("{}: {}{}{}", task, state, text.empty() ? "" : "\n", text));
    Json told = {{"name", task},
                 {"state", state == "ignored" || state == "skipped" ? "ok" : state},
                 {"seconds", json::number_of(event, "seconds")}};
    // The message is the purpose of a `debug` task.
    if (state == "ok" && !text.empty() && text.size() <= kLongestMessage &&
        json::text_of(event, "action").ends_with("debug"))
      told.update({{"name", text}, {"notice", true}});
    context_.emit({step_.id, node_.address, "task", std::move(told)});
    if (state == "changed")
      outcome_.changes.push_back({fmt::format("task '{}'", task), check_ ? "would change" : "changed",
                                  nullptr, nullptr, log_.mask(json::text_of(event, "diff"))});
    bool mine = json::text_of(event, "host") == host_name(node_);
    if ((state == "failed" || state == "unreachable") && mine && !failure_) {
      std::string command = json::text_of(event, "command"), path = json::text_of(event, "path"), head;
      if (!command.empty()) head = fmt::format("command: {}\n", log_.mask(command));
      // What a module of a user's returns need not be a number.
      if (const Json& rc = json::member(event, "rc"); !command.empty() && !rc.is_null())
        head +=
            fmt::format("exit status: {}\n", log_.mask(rc.is_string() ? rc.get<std::string>() : rc.dump()));
      if (event.contains("short")) text = log_.mask(json::text_of(event, "short"));
      if (!path.empty()) text += "\nat " + path;
      failure_ = TaskFailure{task, head, text, state == "unreachable"};
    }
  }

  Status failed(const ProcessResult& ran) const {
    if (!failure_) {
      std::string lines = log_.last_lines(ran.err.empty() ? ran.out : ran.err, 20);
      return {Code::Invalid,
              fmt::format("{}: ansible-playbook ended with {}\n{}", where(), ran.exit_status, lines)};
    }
    std::string lines = failure_->head + log_.last_lines(failure_->text, kFailureLines);
    if (failure_->unreachable)
      return {Code::Retry, fmt::format("{}: task '{}': Ansible cannot reach the node\n{}", where(),
                                       failure_->task, lines)};
    return {Code::Invalid, fmt::format("{}: task '{}' failed\n{}", where(), failure_->task, lines)};
  }

  // The master connections that ControlPersist would keep for a minute.
  void close_masters() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(own("sockets"), error)) {
      (void)run_process(context_.context->environment,
                        {.argv = {"ssh", "-F", "none", "-o",
                                  "ControlPath=" + sockets_.path() + "/" + entry.path().filename().string(),
                                  "-O", "exit", "radl"},
                         .deadline = std::chrono::seconds(5)});
    }
  }

  const StepContext& context_;
  const ir::Step& step_;
  const NodeHandle& node_;
  bool check_;
  const Lease lease_ = lease_of(context_, step_);
  StepLog log_;
  PrivateFolder private_;
  ShortPath sockets_;
  Access access_;
  std::string playbook_, vault_;
  bool gather_ = false;
  StepOutcome outcome_;
  size_t tasks_ = 0;
  std::optional<TaskFailure> failure_;
};

Status one_node(const ir::Step& step, const std::vector<NodeHandle>& nodes) {
  return nodes.size() == 1
             ? Status()
             : internal_error(fmt::format("step {}: for one node, not {}", step.id, nodes.size()));
}

class AnsibleRunner : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override {
    if (Status s = one_node(step, nodes); !s.ok()) return s;
    auto outcome = AnsibleRun(context, step, nodes[0], true).run();
    if (!outcome) return outcome.status();
    return std::move(outcome->changes);
  }
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    if (Status s = one_node(step, nodes); !s.ok()) return s;
    return AnsibleRun(context, step, nodes[0], false).run();
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_ansible_runner() { return std::make_unique<AnsibleRunner>(); }

}  // namespace radl

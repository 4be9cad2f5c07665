#include "runtime/steps/native_runner.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "common/clock.h"
#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/base/redact.h"
#include "runtime/net/node_path.h"
#include "runtime/net/sudo.h"
#include "runtime/steps/native/resource.h"
#include "runtime/steps/native/stage.h"
#include "runtime/steps/node_lease.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

using native::Facts;
using native::Item;
using native::Kind;
using native::Seen;
using native::Work;

constexpr std::chrono::seconds kBeforeRetry{1};

// Says who we are on the node. A login without a home folder is refused: its files would be the machine's.
constexpr const char* kLookAtLogin = R"sh(
case $HOME in /*) ;; *) echo "the login has no home folder, HOME is '$HOME'" >&2; exit 1;; esac
u=$(id -u) || exit 1
n=$(id -un) || n=$u
s=-
if [ "$u" = 0 ]; then :
elif ! command -v sudo >/dev/null; then s=no
elif sudo -n true 2>/dev/null </dev/null; then s=sudo
elif password_is_taken; then s=password; fi
printf 'facts\t%s\t%s\t%s\t%s\n' "$u" "$n" "$HOME" "$s"
)sh";

// One run of one step on one node.
class NativeRun {
 public:
  NativeRun(const StepContext& context, const ir::Step& step, const NodeHandle& node, bool looking_only)
      : context_(context),
        step_(step),
        node_(node),
        lease_(lease_of(context, step)),
        log_(context, step, node.address) {
    facts_.address = node.address;
    facts_.node = &node;
    facts_.context = context.context;
    facts_.looking_only = looking_only;
    facts_.confined_to = node.attributes.value("confined_to", "");
    bool same =
        context.previous_output.is_object() && context.previous_output.value("digest", "") == step.digest;
    if (node.node) {
      auto written = node.node->secrets.find("password");
      password_ = sudo_password(written == node.node->secrets.end() ? Json() : written->second,
                                context.context->secrets);
    }
    for (const auto& resource : step.resources) {
      Item item;
      item.resource = &resource;
      item.step_is_new = !same;
      items_.push_back(item);
    }
  }

  Result<std::vector<Change>> observe() {
    if (Status s = prepare(); !s.ok()) return s;
    if (Status s = look(0); !s.ok()) return s;
    std::vector<Change> all;
    for (size_t i = 0; i < items_.size(); ++i) {
      auto work = plan(i);
      if (!work) return named(i, work.status());
      for (auto& change : work->changes) {
        items_[i].earlier_changed = true;
        for (size_t later = i + 1; later < items_.size(); ++later) items_[later].earlier_changed = true;
        all.push_back(masked(std::move(change)));
      }
    }
    return all;
  }

  Result<StepOutcome> run() {
    if (Status s = prepare(); !s.ok()) return s;
    if (Status s = take_node_lease(context_, lease_, node_.address, *remote_, log_); !s.ok()) return s;
    StepOutcome outcome;
    bool stale = true;
    for (size_t i = 0; i < items_.size();) {
      if (Status s = stop_.check(); !s.ok()) return named(i, s);
      if (stale) {
        if (Status s = look(i); !s.ok()) return s;
        stale = false;
      }
      auto work = plan(i);
      if (!work) return fail(i, work.status());
      if (work->changes.empty() || ran_before(i, *work)) {
        tell(i, "ok", 0);
        ++i;
        continue;
      }
      size_t end = i + 1;
      std::vector<Work> batch{std::move(*work)};
      while (kinds_[i]->batches() && end < items_.size() && kinds_[end]->batches()) {
        auto next = plan(end);
        if (!next) return fail(end, next.status());
        batch.push_back(std::move(*next));
        ++end;
      }
      if (auto failed = execute_as_often(i, batch)) return *failed;
      if (batch[0].once && context_.ran) context_.ran->insert(name_of(i));
      for (auto& done : batch) {
        if (!done.counts) continue;
        for (auto& change : done.changes) {
          outcome.changes.push_back(masked(std::move(change)));
          for (size_t later = end; later < items_.size(); ++later) items_[later].earlier_changed = true;
        }
      }
      i = end;
      stale = true;
    }
    outcome.output = {{"digest", step_.digest}, {"resources", items_.size()}};
    return outcome;
  }

 private:
  // Types, confinement and the connection: everything that can be wrong before the node is asked.
  Status prepare() {
    for (const auto& item : items_) {
      const Kind* kind = native::find_kind(item.resource->type);
      if (!kind)
        return {Code::Unsupported, fmt::format("{}: step '{}': there is no resource type '{}'", node_.address,
                                               step_.recipe, item.resource->type)};
      kinds_.push_back(kind);
      if (facts_.confined_to.empty()) continue;
      for (const auto& path : kind->writes(item)) {
        if (Status s = check_confinement(item, path); !s.ok()) return s;
      }
    }
    auto remote = node_.connect();
    if (!remote) return std::move(remote).status().at(node_.address);
    remote_ = *remote;
    for (size_t i = 0; i < items_.size() && !facts_.looking_only; ++i) {
      if (Status s = kinds_[i]->prepare(items_[i], facts_); !s.ok()) return named(i, s);
    }
    return {};
  }

  Status check_confinement(const Item& item, const std::string& path) const {
    bool inside = !path.starts_with('/') || (path + "/").starts_with(facts_.confined_to + "/");
    if (inside && ("/" + path + "/").find("/../") == std::string::npos) return {};
    return Status(Code::Unsupported,
                  fmt::format(
                      "{}: {}: the node is a folder of this computer, and '{}' would be the computer's own",
                      node_.address, item.label(), path))
        .with_hint(
            "write '~/...', or run radlc as root, where a local node has a file system view of its own");
  }

  // Looks at the resources from `first` on; as root by a second round trip where that is needed and possible.
  Status look(size_t first) {
    bool needs_root = false;
    for (size_t i = first; i < items_.size(); ++i) needs_root |= kinds_[i]->changes_machine();
    std::string mark = "radl-" + to_hex(random_bytes(8)), body = fmt::format("echo 'begin {}'\n", mark);
    if (facts_.home.empty()) {
      body += password_.empty() ? "password_is_taken() { false; }\n"
                                : "password_is_taken() { " + sudo_takes(password_) + "; }\n";
      body += kLookAtLogin;
    }
    body += native::kLookPrelude;
    for (size_t i = first; i < items_.size(); ++i) {
      auto text = kinds_[i]->look(items_[i]);
      if (!text) return named(i, text.status());
      // A subshell that is not part of a list, where errexit would be ignored.
      body += fmt::format(
          "I={}\n( set -e\n{}) </dev/null\nr=$?\n[ $r = 0 ] || {{ say failed $r; exit 1; }}\n", i, *text);
    }
    body += fmt::format("echo 'end {}'\n", mark);
    ExecOptions options;
    options.stop = stop_;
    options.stdin_bytes = std::move(body);
    std::string out;  // all of it: what exec() returns is its end only
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) out += piece;
    };
    auto result = as_root_if_possible("looking", options, false);
    if (!result) return result.status();
    result->out = std::move(out);
    if (Status s = read_look(*result, first, mark); !s.ok()) return s;
    if (facts_.can_sudo && !looked_as_root_) {
      looked_as_root_ = true;
      return look(first);
    }
    return {};
  }

  // The lines between the two marks. Without both the answer is not whole, and no data.
  Status read_look(const ExecResult& result, size_t first, const std::string& mark) {
    seen_.resize(items_.size());
    for (size_t i = first; i < items_.size(); ++i) seen_[i].clear();
    bool begun = false, ended = false;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line) && !ended;) {
      begun |= line == "begin " + mark;
      ended |= line == "end " + mark;
      std::vector<std::string> parts;
      std::istringstream in(line);
      for (std::string part; std::getline(in, part, '\t');) parts.push_back(part);
      if (parts.size() == 5 && parts[0] == "facts") {
        facts_.is_root = parts[1] == "0";
        facts_.user = parts[2];
        facts_.home = parts[3];
        asks_password_ = parts[4] == "password";
        facts_.can_sudo = parts[4] == "sudo" || asks_password_;
        continue;
      }
      size_t index = parts.size() < 2 ? items_.size() : std::strtoul(parts[0].c_str(), nullptr, 10);
      if (index < items_.size()) seen_[index][parts[1]] = parts.size() > 2 ? parts[2] : "";
    }
    for (size_t i = first; i < items_.size(); ++i) {
      if (seen_[i].count("failed") == 0) continue;
      return named(
          i, {Code::Invalid, fmt::format("{}: cannot be looked at: exit status {}\n{}", items_[i].label(),
                                         seen_[i]["failed"], log_.last_lines(result.err, 5))});
    }
    if (facts_.home.empty())
      return {Code::Invalid, fmt::format("{}: the node's shell does not run our script: {}", node_.address,
                                         log_.last_lines(result.err, 3))};
    if (begun && ended) return {};
    return {Code::Retry, fmt::format("{}: step '{}': the node's answer is not whole: {}", node_.address,
                                     step_.recipe, log_.last_lines(result.err, 3))};
  }

  Result<Work> plan(size_t i) {
    auto work = kinds_[i]->plan(items_[i], seen_[i], facts_);
    if (!work || work->changes.empty() || !kinds_[i]->changes_machine()) return work;
    if (!facts_.confined_to.empty()) {
      return Status(Code::Unsupported,
                    items_[i].label() +
                        ": the node is a folder of this computer, which as a whole is not changed")
          .with_hint("run radlc as root, where a local node has a file system view of its own");
    }
    if (!facts_.root()) {
      return no_root(items_[i].label());
    }
    return work;
  }

  Status no_root(const std::string& label) const {
    if (!password_.empty())
      return {Code::Auth, fmt::format("{}: needs root, and {}", label, password_refused())};
    return Status(Code::Auth,
                  fmt::format("{}: needs root, and user '{}' has no passwordless sudo on the node", label,
                              facts_.user))
        .with_hint(
            "where sudo asks for a password: disk.0.os.credentials.password of the system, "
            "RADL_SUDO_PASSWORD, or --ask-sudo-password");
  }

  std::string password_refused() const {
    return fmt::format("sudo on the node does not take the password of user '{}'", facts_.user);
  }

  Result<ExecResult> as_root_if_possible(const char* what, ExecOptions options, bool acts) {
    std::string command = "/bin/sh -s";
    if (facts_.can_sudo && !facts_.is_root && asks_password_) {
      SudoShell shell = sudo_shell(password_, facts_.home);
      command = std::move(shell.command);
      options.stdin_bytes.insert(0, shell.stdin_begin);
    } else if (facts_.can_sudo && !facts_.is_root) {
      command = fmt::format("sudo -n env HOME={} /bin/sh -s", shell_quote(facts_.home));
    }
    auto result = remote_->exec(acts ? under_lease(lease_, command) : command, options);
    if (result) return result;
    Status why = std::move(result).status();
    // What took all its time will take it again.
    if (why.code() == Code::Timeout && stop_.check().ok()) why = invalid(why.message());
    return std::move(why).at(fmt::format("{}: step '{}': {}", node_.address, step_.recipe, what));
  }

  std::string name_of(size_t i) const { return fmt::format("{} {}", i, items_[i].label()); }
  bool ran_before(size_t i, const Work& work) const {
    return work.once && context_.ran && context_.ran->count(name_of(i)) != 0;
  }

  // Again as often as the user wants it; else what may have run and cannot be looked at is not repeated, here
  // or by whoever repeats the step.
  std::optional<Status> execute_as_often(size_t first, std::vector<Work>& batch) {
    for (int left = batch[0].retries;; --left) {
      auto failed = execute(first, batch);
      if (!failed || !stop_.check().ok()) return failed;
      bool lost = failed->code() == Code::Lost;
      if (left == 0 || (!lost && failed->code() != Code::Invalid)) {
        if (!lost || !batch[0].once) return failed;
        return invalid(failed->message() +
                       "; it may have run, and may be running still: it is not run again by itself")
            .with_hint("look at the node and apply again, or write `creates`, `unless` or `retries`");
      }
      log_.line(fmt::format("{}: is run again ({} left)", items_[first].label(), left));
      if (!stop_.sleep(kBeforeRetry)) return failed;
      if (Status s = take_node_lease(context_, lease_, node_.address, *remote_, log_); !s.ok()) return s;
    }
  }

  // Runs the scripts of items first, first+1, ... in one round trip. Each begins with a line that says so.
  std::optional<Status> execute(size_t first, std::vector<Work>& batch) {
    std::string staged_files, script = native::kChangePrelude, mark = "radl-" + to_hex(random_bytes(8));
    ExecOptions options;
    options.deadline = std::chrono::milliseconds(0);
    size_t last = first;
    for (size_t k = 0; k < batch.size(); ++k) {
      options.deadline += batch[k].deadline;
      if (batch[k].changes.empty()) continue;
      if (batch[k].before) {
        if (Status s = batch[k].before(); !s.ok()) return fail(first + k, s);
      }
      for (const auto& staged : batch[k].staged) {
        if (Status s = native::stage(*remote_, staged, stop_); !s.ok()) return fail(first + k, s);
        staged_files += " " + shell_path(staged.remote_path);
      }
      // Not `( ... ) || ...`: a shell ignores errexit in a list's first part. And what runs must not read the
      // rest of this script as its input.
      script +=
          fmt::format("( set -e\n{}) </dev/null\nr=$?\n[ $r = 0 ] || {{ echo \"{} {} $r\"; exit 0; }}\n",
                      batch[k].script, mark, k);
      last = first + k;
    }
    script += fmt::format("echo '{} done'\n", mark);
    // What was sent goes away with the shell that was to use it.
    if (!staged_files.empty())
      script.insert(0, fmt::format("trap {} EXIT\ntrap 'exit 143' HUP INT TERM\n",
                                   shell_quote("rm -f" + staged_files)));
    options.stdin_bytes = std::move(script);
    options.stop = stop_;
    options.on_output = [&](std::string_view piece, bool) { log_.output(piece, mark); };
    auto begin = SteadyClock::now();
    auto result = as_root_if_possible(items_[last].label().c_str(), options, true);
    double seconds = seconds_since(begin);
    log_.end_output();
    if (!result) return fail(first, result.status());
    size_t at = result->out.rfind(mark);
    size_t failed = batch.size();
    int status = result->exit_status;
    if (at == std::string::npos)
      failed = 0;  // the shell itself went away
    else if (result->out.compare(at + mark.size(), 5, " done") != 0) {
      std::istringstream(result->out.substr(at + mark.size())) >> failed >> status;
    }
    for (size_t k = 0; k < batch.size() && k < failed; ++k)
      tell(first + k, batch[k].changes.empty() ? "ok" : batch[k].counts ? "changed" : "ok", seconds);
    if (failed >= batch.size()) return std::nullopt;
    std::string out = at == std::string::npos ? result->out : result->out.substr(0, at);
    std::string lines = log_.last_lines(out + result->err, 20);
    const Item& item = items_[first + failed];
    const bool refused = !password_.empty() && !facts_.root();
    return fail(first + failed, {Code::Invalid, fmt::format("{}: exit status {}{}{}{}", item.label(), status,
                                                            lines.empty() ? "" : "\n", lines,
                                                            refused ? "\n" + password_refused() : "")});
  }

  Status named(size_t i, Status why) const {
    Status clean = Status(why.code(), log_.mask(why.message())).with_hint(why.hint());
    std::string label = items_[i].label();
    std::string where = fmt::format("{}: recipe '{}', step {}", node_.address, step_.recipe, step_.group);
    if (clean.message().find(log_.mask(label)) == std::string::npos) where += ": " + log_.mask(label);
    return std::move(clean).at(where);
  }

  Status fail(size_t i, const Status& why) {
    tell(i, "failed", 0);
    Status named_one = named(i, why);
    log_.line("FAILED: " + named_one.message());
    return named_one;
  }

  void tell(size_t i, const char* state, double seconds) {
    log_.line(fmt::format("{}: {}", items_[i].label(), state));
    context_.emit({step_.id,
                   node_.address,
                   "task",
                   {{"name", log_.mask(items_[i].label())}, {"state", state}, {"seconds", seconds}}});
  }

  Change masked(Change change) const {
    change.resource = log_.mask(change.resource);
    change.diff = log_.mask(change.diff);
    change.before = log_.redactor().mask_json(change.before);
    change.after = log_.redactor().mask_json(change.after);
    return change;
  }

  const StepContext& context_;
  const ir::Step& step_;
  const NodeHandle& node_;
  const Lease lease_;
  const Stop stop_ = context_.context->stop;
  StepLog log_;
  Facts facts_;
  std::vector<Item> items_;
  std::vector<const Kind*> kinds_;
  std::vector<Seen> seen_;
  Remote* remote_ = nullptr;
  std::string password_;  // for sudo; empty: none is given
  bool asks_password_ = false, looked_as_root_ = false;
};

class NativeRunner : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override {
    if (Status s = check(step, nodes); !s.ok()) return s;
    return NativeRun(context, step, nodes[0], true).observe();
  }
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    if (Status s = check(step, nodes); !s.ok()) return s;
    return NativeRun(context, step, nodes[0], false).run();
  }

 private:
  static Status check(const ir::Step& step, const std::vector<NodeHandle>& nodes) {
    if (nodes.size() == 1) return {};
    return internal_error(
        fmt::format("step {}: a native step is for one node, not {}", step.id, nodes.size()));
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_native_runner() { return std::make_unique<NativeRunner>(); }

}  // namespace radl

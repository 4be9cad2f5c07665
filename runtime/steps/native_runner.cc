#include "runtime/steps/native_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/digest.h"
#include "common/tidy_path.h"
#include "runtime/base/redact.h"
#include "runtime/steps/native/batch.h"
#include "runtime/steps/native/item_voice.h"
#include "runtime/steps/native/looking.h"
#include "runtime/steps/native/node_shell.h"
#include "runtime/steps/native/stage.h"
#include "runtime/steps/native/value_checks.h"
#include "runtime/steps/node_lease.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

using native::Facts;
using native::Item;
using native::Kind;
using native::Part;
using native::Progress;
using native::Work;

constexpr std::chrono::seconds kBeforeRetry{1};
// What a look has said is sent back to be compared with the next one; more of it ends a batch.
constexpr size_t kLongestExpected = 32 * 1024;

// One run of one step on one node.
class NativeRun {
 public:
  NativeRun(const StepContext& context, const ir::Step& step, const NodeHandle& node, bool looking_only)
      : context_(context),
        step_(step),
        node_(node),
        lease_(lease_of(context, step)),
        log_(context, step, node.address),
        shell_(node, context.context->secrets, facts_,
               fmt::format("{}: step '{}'", node.address, step.recipe)),
        looked_(step.resources.size()) {
    facts_.address = node.address;
    facts_.node = &node;
    facts_.context = context.context;
    facts_.all_nodes = &context.all_nodes;
    facts_.looking_only = looking_only;
    facts_.confined_to = node.attributes.value("confined_to", "");
    bool same =
        context.previous_output.is_object() && context.previous_output.value("digest", "") == step.digest;
    for (const auto& resource : step.resources) {
      Item item;
      item.resource = &resource;
      item.step_is_new = !same;
      items_.push_back(item);
    }
  }

  Result<std::vector<Change>> observe() {
    if (Status s = prepare(); !s.ok()) return s;
    if (Status s = look(0, false); !s.ok()) return s;
    std::vector<Change> all;
    for (size_t i = 0; i < items_.size(); ++i) {
      auto work = plan(i);
      if (!work) return voice_.named(items_[i], work.status());
      for (auto& change : work->changes) {
        items_[i].earlier_changed = true;
        note_changed_before(i + 1);
        all.push_back(voice_.masked(std::move(change)));
      }
    }
    return all;
  }

  Result<StepOutcome> run() {
    if (Status s = prepare(); !s.ok()) return s;
    StepOutcome outcome;
    bool stale = true;
    for (size_t i = 0; i < items_.size();) {
      if (Status s = stop_.check(); !s.ok()) return voice_.named(items_[i], s);
      if (stale) {
        if (Status s = look(i, i == 0); !s.ok()) return s;
        stale = false;
      }
      auto work = plan(i);
      if (!work) return voice_.fail(items_[i], work.status());
      if (work->changes.empty() || ran_before(i, *work)) {
        voice_.tell(items_[i], "ok", 0);
        ++i;
        continue;
      }
      std::vector<Part> batch = gather(i, std::move(*work));
      size_t done = 0;
      if (auto failed = execute_as_often(batch, done)) return *failed;
      if (batch[0].work.once && context_.ran) context_.ran->insert(name_of(i));
      for (size_t k = 0; k < done; ++k) {
        Work& made = batch[k].work;
        if (!made.counts || made.changes.empty()) continue;
        for (auto& change : made.changes) outcome.changes.push_back(voice_.masked(std::move(change)));
        note_changed_before(i + done);
      }
      i += done;
      stale = true;
    }
    outcome.output = {{"digest", step_.digest}, {"resources", items_.size()}};
    if (Status s = add_given(stale, outcome.output); !s.ok()) return s;
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
      if (Status s = native::check_values(item); !s.ok()) return voice_.named(item, s);
      if (facts_.confined_to.empty()) continue;
      for (const auto& path : kind->writes(item)) {
        if (Status s = check_confinement(item, path); !s.ok()) return s;
      }
    }
    if (Status s = shell_.connect(); !s.ok()) return s;
    for (size_t i = 0; i < items_.size() && !facts_.looking_only; ++i) {
      if (Status s = kinds_[i]->prepare(items_[i], facts_); !s.ok()) return voice_.named(items_[i], s);
    }
    return {};
  }

  Status check_confinement(const Item& item, const std::string& path) const {
    bool inside = !path.starts_with('/') || (path + "/").starts_with(facts_.confined_to + "/");
    if (inside && !goes_up(path)) return {};
    return Status(Code::Unsupported,
                  fmt::format(
                      "{}: {}: the node is a folder of this computer, and '{}' would be the computer's own",
                      node_.address, item.label(), path))
        .with_hint(
            "write '~/...', or run radlc as root, where a local node has a file system view of its own");
  }

  // Looks at the resources from `first` on; as root by a second round trip where that is needed and possible.
  // `taking`: takes the node's lease before, in the same round trip.
  Status look(size_t first, bool taking) {
    const std::string mark = "radl-" + to_hex(random_bytes(8));
    ExecOptions options;
    options.stop = stop_;
    options.stdin_bytes = fmt::format("echo 'begin {}'\n", mark);
    if (facts_.home.empty()) options.stdin_bytes += shell_.asking_who();
    options.stdin_bytes += native::kLookPrelude;
    size_t at = first;
    auto looks = native::look_script(items_, kinds_, at);
    if (!looks) return voice_.named(items_[at], looks.status());
    options.stdin_bytes += *looks;
    options.stdin_bytes += fmt::format("echo 'end {}'\n", mark);
    std::string out;  // all of it: what exec() returns is its end only
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) out += piece;
    };
    auto result = taking
                      ? take_node_lease_then(context_, lease_, node_.address, shell_.remote(), log_, options)
                      : shell_.run("looking", options);
    if (!result) return result.status();
    if (Status s = read_look(out, result->err, first, mark); !s.ok()) return s;
    if (facts_.can_sudo && !looked_as_root_) {
      looked_as_root_ = true;
      return look(first, false);
    }
    return {};
  }

  Status read_look(const std::string& out, const std::string& err, size_t first, const std::string& mark) {
    looked_.begin(first);
    std::vector<std::string> who;
    const bool whole = looked_.read(out, mark, who);
    if (!who.empty()) shell_.take_facts(who);
    for (size_t i = first; i < items_.size(); ++i) {
      auto failed = looked_.seen[i].find("failed");
      if (failed == looked_.seen[i].end()) continue;
      return voice_.named(
          items_[i],
          {Code::Invalid, fmt::format("{}: cannot be looked at: exit status {}\n{}", items_[i].label(),
                                      failed->second, log_.last_lines(err, 5))});
    }
    if (facts_.home.empty())
      return {Code::Invalid, fmt::format("{}: the node's shell does not run our script: {}", node_.address,
                                         log_.last_lines(err, 3))};
    if (whole) return {};
    return {Code::Retry, fmt::format("{}: step '{}': the node's answer is not whole: {}", node_.address,
                                     step_.recipe, log_.last_lines(err, 3))};
  }

  Result<Work> plan(size_t i) {
    auto work = kinds_[i]->plan(items_[i], looked_.seen[i], facts_);
    if (!work || work->changes.empty() || !kinds_[i]->changes_machine()) return work;
    if (!facts_.confined_to.empty()) {
      return Status(Code::Unsupported,
                    items_[i].label() +
                        ": the node is a folder of this computer, which as a whole is not changed")
          .with_hint("run radlc as root, where a local node has a file system view of its own");
    }
    if (!facts_.root()) return shell_.no_root(items_[i].label());
    return work;
  }

  // What may be done in one round trip from `first` on, as planned by the last look. What is wrong with a
  // later one is said when it has its turn.
  std::vector<Part> gather(size_t first, Work work) {
    std::vector<Part> batch;
    bool more = native::may_follow(work), checked = false;
    batch.push_back({first, std::move(work), false, "", ""});
    for (size_t i = first + 1; more && i < items_.size(); ++i) {
      const Part& before = batch.back();
      checked |= native::may_change_others(*kinds_[before.item], before.work);
      // Files that are written change what others find: a service its configuration, a command its guard.
      const bool again = checked || !kinds_[i]->batches();
      if (!kinds_[i]->plans_ahead() || looked_.lines[i].size() > kLongestExpected) break;
      const bool was_changed = items_[i].earlier_changed;
      items_[i].earlier_changed |= std::any_of(batch.begin(), batch.end(), [](const Part& part) {
        return part.work.counts && !part.work.changes.empty();
      });
      auto next = plan(i);
      auto look = next && again ? kinds_[i]->look(items_[i]) : std::string();
      more = next && look && native::may_follow(*next);
      if (more)
        batch.push_back({i, std::move(*next), again, again ? *look : "", looked_.lines[i]});
      else
        items_[i].earlier_changed = was_changed;
    }
    return batch;
  }

  Status add_given(bool stale, Json& output) {
    const bool gives =
        std::any_of(kinds_.begin(), kinds_.end(), [](const Kind* kind) { return kind->gives_any(); });
    if (!gives) return {};
    if (stale) {
      if (Status s = look(0, false); !s.ok()) return s;
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!kinds_[i]->gives_any()) continue;
      auto given = kinds_[i]->gives(items_[i], looked_.seen[i]);
      if (!given.ok()) return voice_.fail(items_[i], given.status());
      output.update(*given);
    }
    return {};
  }

  void note_changed_before(size_t first) {
    for (size_t i = first; i < items_.size(); ++i) items_[i].earlier_changed = true;
  }

  std::string name_of(size_t i) const { return fmt::format("{} {}", i, items_[i].label()); }
  bool ran_before(size_t i, const Work& work) const {
    return work.once && context_.ran && context_.ran->count(name_of(i)) != 0;
  }

  // Repeats as often as the user requests. Otherwise, a part that may have run and cannot be verified is
  // repeated neither here nor by retries of the step.
  std::optional<Status> execute_as_often(std::vector<Part>& batch, size_t& done) {
    const Work& head = batch[0].work;
    for (int left = head.retries;; --left) {
      auto failed = execute(batch, done);
      if (!failed || !stop_.check().ok()) return failed;
      bool lost = failed->code() == Code::Lost;
      if (left == 0 || (!lost && failed->code() != Code::Invalid)) {
        if (!lost || !head.once) return failed;
        return invalid(failed->message() +
                       "; it may have run, or still be running, so radlc does not run it again")
            .with_hint("look at the node and apply again, or write `creates`, `unless` or `retries`");
      }
      log_.line(fmt::format("{}: is run again ({} left)", items_[batch[0].item].label(), left));
      if (!stop_.sleep(kBeforeRetry)) return failed;
      if (Status s = take_node_lease(context_, lease_, node_.address, shell_.remote(), log_); !s.ok())
        return s;
    }
  }

  // What a batch has to have on this computer and on the node before it runs.
  std::optional<Status> make_ready(const std::vector<Part>& batch) {
    for (const Part& part : batch) {
      if (part.work.changes.empty()) continue;
      if (part.work.before) {
        if (Status s = part.work.before(); !s.ok()) return voice_.fail(items_[part.item], s);
      }
      for (const auto& staged : part.work.staged) {
        if (Status s = native::stage(shell_.remote(), staged, stop_); !s.ok())
          return voice_.fail(items_[part.item], s);
      }
    }
    return std::nullopt;
  }

  // `done`: this many of its parts are up to date; the others must be checked again.
  std::optional<Status> execute(const std::vector<Part>& batch, size_t& done) {
    if (auto failed = make_ready(batch)) return failed;
    const std::string mark = "radl-" + to_hex(random_bytes(8));
    Progress progress(batch, mark);
    ExecOptions options;
    options.deadline = std::chrono::milliseconds(0);
    for (const Part& part : batch) options.deadline += part.work.deadline;
    options.stdin_bytes = native::batch_script(batch, mark);
    options.stop = batch.size() == 1 ? stop_ : stop_.or_when(Stop::when([&] { return progress.is_late(); }));
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) progress.take(piece);
      log_.output(piece, mark);
    };
    auto result = shell_.run_under(lease_, items_[batch[0].item].label(), options);
    log_.end_output();
    done = progress.reached();
    for (size_t k = 0; k < done && k < batch.size(); ++k) {
      const Work& work = batch[k].work;
      voice_.tell(items_[batch[k].item], work.counts && !work.changes.empty() ? "changed" : "ok",
                  progress.seconds_of(k));
    }
    if (!result)
      return voice_.fail(items_[batch[std::min(done, batch.size() - 1)].item],
                         why_ended(result.status(), batch, done));
    const Progress::End end = progress.end();
    if (end == Progress::End::Done || (end == Progress::End::Stale && done > 0)) return std::nullopt;
    const int status = end == Progress::End::Failed ? progress.exit_status() : result->exit_status;
    return failure(batch[std::min(done, batch.size() - 1)].item, status,
                   progress.output_of_last(result->out) + result->err);
  }

  // A part that exceeds its own time limit ends the batch like a stop request.
  Status why_ended(const Status& why, const std::vector<Part>& batch, size_t reached) const {
    if (why.code() != Code::Cancelled || !stop_.check().ok() || reached >= batch.size()) return why;
    const double seconds = static_cast<double>(batch[reached].work.deadline.count()) / 1000.0;
    return invalid(fmt::format("the command was not done within {:g} s and was ended", seconds));
  }

  Status failure(size_t i, int status, const std::string& output) {
    const std::string lines = log_.last_lines(output, 20), refused = shell_.refusal();
    return voice_.fail(items_[i], {Code::Invalid, fmt::format("{}: exit status {}{}{}{}", items_[i].label(),
                                                              status, lines.empty() ? "" : "\n" + lines,
                                                              refused.empty() ? "" : "\n", refused)});
  }

  const StepContext& context_;
  const ir::Step& step_;
  const NodeHandle& node_;
  const Lease lease_;
  const Stop stop_ = context_.context->stop;
  StepLog log_;
  const native::ItemVoice voice_{context_, step_, node_.address, log_};
  Facts facts_;
  native::NodeShell shell_;
  native::Looked looked_;
  std::vector<Item> items_;
  std::vector<const Kind*> kinds_;
  bool looked_as_root_ = false;
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

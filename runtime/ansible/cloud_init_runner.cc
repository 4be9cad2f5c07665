// Recipes for cloud_init: the cloud hands them to a machine when it makes it, and cloud-init runs them as
// that boots. What is left to do here is to wait for the end and to say how it went.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/net/remote.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

constexpr int kLacksCloudInit = 44, kWithComplaints = 2;
constexpr std::chrono::minutes kBoot{30};  // packages are installed, and the machine may restart for them

// "done", "error", "disabled", ..: of the last line "status: WORD".
std::string status_in(std::string_view output) {
  std::string found;
  for (std::string_view line : split(output, '\n')) {
    // With --wait dots come before it, one for each look.
    line = trim(line.substr(std::min(line.find_first_not_of('.'), line.size())));
    if (line.starts_with("status: ")) found = trim(line.substr(8));
  }
  return found;
}

class CloudInitRunner : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override {
    auto done = run(context, step, nodes);
    if (!done) return done.status();
    return std::vector<Change>();
  }
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    for (const NodeHandle& node : nodes)
      if (Status over = wait_for_end(context, step, node); !over.ok()) return over;
    StepOutcome outcome;
    outcome.output = {{"digest", step.digest}};
    return outcome;
  }

 private:
  static Status failed(const NodeHandle& node, const ir::Step& step, Code code, const std::string& why) {
    return {code, fmt::format("{}: recipe '{}' is for cloud_init, {}", node.address, step.recipe, why)};
  }

  static Status wait_for_end(const StepContext& context, const ir::Step& step, const NodeHandle& node) {
    const auto given = node.attributes.value("cloud_init", std::vector<std::string>());
    if (std::find(given.begin(), given.end(), step.body) == given.end())
      return failed(node, step, Code::Unsupported, "and this cloud gives its nodes no user data")
          .with_hint("write it as an Ansible or native recipe, or deploy to a cloud");
    auto remote = node.connect();
    if (!remote) return remote.status();
    StepLog log(context, step, node.address);
    ExecOptions options;
    options.deadline = kBoot;
    options.stop = context.context->stop;
    options.on_output = [&](std::string_view piece, bool) { log.output(piece); };
    auto ran = (*remote)->exec(fmt::format("command -v cloud-init > /dev/null 2>&1 || exit {}\n"
                                           "cloud-init status --wait --long",
                                           kLacksCloudInit),
                               options);
    log.end_output();
    if (!ran) return Status(ran.status()).at(node.address);
    return judged(step, node, *ran, log);
  }

  static Status judged(const ir::Step& step, const NodeHandle& node, const ExecResult& ran, StepLog& log) {
    if (ran.exit_status == kLacksCloudInit)
      return failed(node, step, Code::Unsupported, "which its image does not have")
          .with_hint("take an image with cloud-init, or write an Ansible or native recipe");
    const std::string status = status_in(ran.out);
    if (status == "done" && (ran.exit_status == 0 || ran.exit_status == kWithComplaints)) return {};
    if (status == "disabled" || status == "not run" || status == "not started")
      return failed(node, step, Code::Unsupported, "which its image has switched off");
    return failed(node, step, Code::Invalid,
                  fmt::format("which ended with an error there: {}", log.last_lines(ran.out + ran.err, 5)))
        .with_hint(
            "/var/log/cloud-init-output.log of the node has what it printed. It runs recipes once: when one "
            "is changed, the node is replaced");
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_cloud_init_runner() { return std::make_unique<CloudInitRunner>(); }

}  // namespace radl

// Recipes for cloud_init: the cloud runs them when it boots a machine, or nobody does.
#include <fmt/format.h>

#include "runtime/ansible/ansible_runner.h"

namespace radl {
namespace {

class CloudInitRunner : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override {
    auto done = run(context, step, nodes);
    if (!done) return done.status();
    return std::vector<Change>();
  }
  Result<StepOutcome> run(const StepContext&, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    for (const auto& node : nodes) {
      if (node.attributes.value("user_data_applied", false)) continue;
      return Status(
                 Code::Unsupported,
                 fmt::format("{}: recipe '{}' is for cloud_init, and this cloud gives its nodes no user data",
                             node.address, step.recipe))
          .with_hint("write it as an Ansible or native recipe, or deploy to a cloud");
    }
    StepOutcome outcome;
    outcome.output = {{"digest", step.digest}};
    return outcome;
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_cloud_init_runner() { return std::make_unique<CloudInitRunner>(); }

}  // namespace radl

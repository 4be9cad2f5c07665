// One process: every batch in its order, each an update.
#include "engine/cluster/tickets.h"
#include "engine/train/strategy.h"

namespace radl::engine {
namespace {

class Local : public Strategy {
 public:
  explicit Local(const StrategyContext& c) : hooks_(c.hooks), total_(c.setup.length.total) {}

  Status begin(TrainingState& state) override {
    tickets_ = cluster::Tickets(total_, state);
    return {};
  }
  bool leads() const override { return true; }
  Result<Work> next() override {
    const std::optional<uint64_t> batch = tickets_.take(0);
    if (!batch) return Work{.finished = true};
    if (hooks_.stop.asked()) return Status(Code::Cancelled, "interrupted");
    return Work{.batch = batch, .then = *batch + 1};
  }
  Result<Update> finish(const Outcome* own) override {
    return Update{.sums = own->sums,
                  .numbers = own->gradients,
                  .optimizer_takes = true,
                  .rate_of = own->batch,
                  .done = tickets_.done() + 1,
                  .newest = own->batch};
  }
  void applied(const Update& update) override { tickets_.finish(0, update.newest); }
  void store(TrainingState& out) const override { tickets_.store(out); }

 private:
  const RunHooks& hooks_;
  const uint64_t total_;
  cluster::Tickets tickets_{0};
};

}  // namespace

StrategyResult make_local(const StrategyContext& context) {
  return StrategyResult(std::make_unique<Local>(context));
}

}  // namespace radl::engine

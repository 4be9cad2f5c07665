#include "engine/train/strategy.h"

namespace radl::engine {

Result<std::unique_ptr<Strategy>> make_strategy(const StrategyContext& context) {
  const Job& job = context.job;
  if (job.cluster.empty()) return make_local(context);
  if (!without_servers(job.sync.mode)) return make_server_worker(context);
  if (job.sync.mode == SyncMode::Auto) return make_auto(context);
  return job.sync.local_steps > 1 ? make_local_steps(context) : make_all_reduce(context);
}

}  // namespace radl::engine

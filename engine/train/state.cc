#include "engine/train/state.h"

#include <fmt/format.h>

namespace radl::engine {

Status check_fits(const Checkpoint& c, const Job& job, const Setup& setup) {
  if (c.model != setup.network->description() || c.weights.size() != setup.network->parameters().size() ||
      c.statistics.size() != setup.network->statistics().size()) {
    return invalid("the checkpoint is of another model; give another directory, or \"resume\": \"never\"");
  }
  if (std::string other = differing_settings(c.settings, resume_settings(job)); !other.empty()) {
    return invalid("the checkpoint is of a job with other settings: " + other +
                   "; give another directory, or \"resume\": \"never\"");
  }
  if (c.done() > setup.length.total) {
    return invalid(fmt::format(
        "the checkpoint is at epoch {:g}, beyond the {:g} of this job; give another directory, or "
        "\"resume\": \"never\"",
        setup.length.epoch_of(c.done()), job.epochs));
  }
  return {};
}

}  // namespace radl::engine

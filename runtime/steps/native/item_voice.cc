#include "runtime/steps/native/item_voice.h"

#include <fmt/format.h>

namespace radl::native {

Status ItemVoice::named(const Item& item, Status why) const {
  Status clean = Status(why.code(), log_.mask(why.message())).with_hint(why.hint());
  const std::string label = log_.mask(item.label());
  std::string where = fmt::format("{}: recipe '{}', step {}", node_, step_.recipe, step_.group);
  if (clean.message().find(label) == std::string::npos) where += ": " + label;
  return std::move(clean).at(where);
}

Status ItemVoice::fail(const Item& item, const Status& why) const {
  tell(item, "failed", 0);
  Status named_one = named(item, why);
  log_.line("FAILED: " + named_one.message());
  return named_one;
}

void ItemVoice::tell(const Item& item, const char* state, double seconds) const {
  log_.line(fmt::format("{}: {}", item.label(), state));
  context_.emit(
      {step_.id, node_, "task", {{"name", log_.mask(item.label())}, {"state", state}, {"seconds", seconds}}});
}

Change ItemVoice::masked(Change change) const {
  change.resource = log_.mask(change.resource);
  change.diff = log_.mask(change.diff);
  change.before = log_.redactor().mask_json(change.before);
  change.after = log_.redactor().mask_json(change.after);
  return change;
}

}  // namespace radl::native

#include "runtime/driver/others.h"

namespace radl::driver {

void note_others(const Others& others, const std::set<std::string>& also, Plan& plan) {
  for (const Unowned& one : others.unowned) {
    if (also.count(one.id)) {
      plan.notes.push_back("destroyed as well: " + one.text());
      continue;
    }
    plan.notes.push_back("left alone: " + one.text() + "; --also " + one.id + " destroys it as well");
    plan.unowned.push_back(one);
  }
  for (const auto& [cloud, why] : others.unseen)
    plan.notes.push_back(cloud + " could not be asked what else carries the infrastructure's tag: " + why);
}

}  // namespace radl::driver

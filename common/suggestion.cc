#include "common/suggestion.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/text.h"

namespace radl {
namespace {

bool has_word(std::string_view name, std::string_view word) {
  constexpr std::string_view kJoints = "_.-";
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of(kJoints, at), name.size());
    if (equal_ignoring_case(name.substr(at, end - at), word)) return true;
    at = end + 1;
  }
  return false;
}

// What users of PyTorch, Keras, Hugging Face, SkyPilot and Ray write, and the name that it may have here.
constexpr std::pair<std::string_view, std::string_view> kHabits[] = {{"lr", "learning_rate"},
                                                                     {"bs", "batch_size"},
                                                                     {"batch", "batch_size"},
                                                                     {"wd", "weight_decay"},
                                                                     {"num_epochs", "epochs"},
                                                                     {"n_epochs", "epochs"},
                                                                     {"max_epochs", "epochs"},
                                                                     {"net", "model"},
                                                                     {"arch", "model"},
                                                                     {"num_workers", "workers"},
                                                                     {"ps", "servers"},
                                                                     {"data", "dataset"},
                                                                     {"num_train_epochs", "epochs"},
                                                                     {"output_dir", "result"},
                                                                     {"out", "result"},
                                                                     {"nodes", "systems"},
                                                                     {"workers", "systems"},
                                                                     {"hosts", "systems"},
                                                                     {"script", "main"},
                                                                     {"entrypoint", "main"},
                                                                     {"command", "main"},
                                                                     {"cmd", "main"},
                                                                     {"run", "main"},
                                                                     {"args", "arguments"},
                                                                     {"env", "environment"},
                                                                     {"envs", "environment"},
                                                                     {"workdir", "source"},
                                                                     {"working_dir", "source"},
                                                                     {"docker", "image"},
                                                                     {"container", "image"}};

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  for (const auto& [habit, here] : kHabits)
    if (equal_ignoring_case(habit, name) && std::find(names.begin(), names.end(), here) != names.end())
      return std::string(here);
  std::string found = nearest(name, names);
  if (!found.empty() || name.size() < 3) return found;
  std::vector<std::string> having;
  std::copy_if(names.begin(), names.end(), std::back_inserter(having),
               [&](const std::string& each) { return has_word(each, name); });
  if (having.empty()) return "";
  found = *std::min_element(having.begin(), having.end(),
                            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const bool of_all =
      std::all_of(having.begin(), having.end(), [&](const auto& each) { return each.starts_with(found); });
  return of_all ? found : "";
}

std::string names_it_has(std::vector<std::string> names) {
  constexpr size_t kMost = 10;
  const size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return "it has " + join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace radl

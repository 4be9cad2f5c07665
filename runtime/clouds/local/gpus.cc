#include "runtime/clouds/local/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "common/process/process.h"
#include "common/text.h"
#include "runtime/clouds/machine_facts.h"

namespace radl::local {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kAnswer{20};
constexpr std::string_view kFeatures = "gpu.";
constexpr const char* kHint =
    "a node of cloud local has the GPUs of this computer, as nvidia-smi shows them; choose a cloud that has "
    "GPUs with `--cloud` or in `deploy`";

Json without_gpus(std::string trouble) {
  Json none{{"gpu_count", 0}};
  if (!trouble.empty()) none["trouble"] = std::move(trouble);
  return none;
}

}  // namespace

Json gpus_in(const std::string& answer) {
  double count = 0, least = 0;
  std::string model;
  for (std::string_view line : split(answer, '\n')) {
    const size_t comma = line.find(',');
    double mebibytes = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), mebibytes);
    if (comma == line.npos || read.ptr != line.data() + comma) continue;
    least = count > 0 ? std::min(least, mebibytes) : mebibytes;
    if (count == 0) model = std::string(trim(line.substr(comma + 1)));
    ++count;
  }
  if (count == 0) return without_gpus(std::string(trim(answer)));
  return {{"gpu_count", count},
          {"gpu_memory_bytes", least * 1024 * 1024},
          {"gpu_vendor", "NVIDIA"},
          {"gpu_model", model}};
}

Json gpus_of_this_computer(const Environment& environment, const Stop& stop) {
  auto asked = run_process(
      environment, {.argv = {"nvidia-smi", "--query-gpu=memory.total,name", "--format=csv,noheader,nounits"},
                    .deadline = kAnswer,
                    .stop = stop});
  if (!asked) return without_gpus(asked.status().code() == Code::NotFound ? "" : asked.status().message());
  if (asked->exit_status != 0) return without_gpus(std::string(trim(asked->out + asked->err)));
  return gpus_in(asked->out);
}

bool asks_for_gpus(const ir::Node& node) {
  return std::any_of(node.requirements.begin(), node.requirements.end(), [](const auto& requirement) {
    return requirement.first.starts_with(kFeatures) && is_checked(requirement.first);
  });
}

Status check_gpus(const ir::Node& node, const Json& gpus) {
  Json wanted = Json::object();
  const Json all = checked_requirements(node);
  for (const auto& [feature, requirement] : all.items())
    if (feature.starts_with(kFeatures)) wanted[feature] = requirement;
  const auto lacking = unmet(wanted, gpus);
  if (lacking.empty()) return {};
  const std::string trouble = gpus.value("trouble", "");
  return invalid(fmt::format("{}: {}{}", node.address, unmet_text(lacking),
                             trouble.empty() ? "" : "; nvidia-smi says: " + trouble))
      .with_hint(kHint);
}

}  // namespace radl::local

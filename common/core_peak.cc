#include "common/core_peak.h"

#include <charconv>
#include <map>
#include <string_view>

#include "common/files.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr double kUsualMegahertz = 2500;  // of kernels that name none, as on ARM
constexpr size_t kMostBytes = 1 << 22;

// The fields of the first processor.
std::map<std::string_view, std::string_view> first_processor(std::string_view text) {
  std::map<std::string_view, std::string_view> fields;
  for (std::string_view line : split(text, '\n')) {
    if (trim(line).empty() && !fields.empty()) break;
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      fields.emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return fields;
}

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Two multiply-adds of a vector's width; AMD's cores do AVX-512 in two halves.
double operations_a_cycle(std::string_view vendor, std::string_view flags) {
  auto has = [&](std::string_view flag) {
    return (" " + std::string(flags) + " ").find(" " + std::string(flag) + " ") != std::string::npos;
  };
  if (has("avx512f") && vendor == "GenuineIntel") return 64;
  if (has("avx512f") || (has("avx2") && has("fma"))) return 32;
  if (has("asimd") || has("avx")) return 16;
  return 8;
}

// The clock of now changes with the load of now, so that the fastest counts where the kernel names it.
double megahertz(const std::string& root, std::string_view now) {
  const auto fastest = read_file(root + "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", kMostBytes);
  const double kilohertz = fastest.ok() ? number(trim(*fastest)) : 0;
  return kilohertz > 0 ? kilohertz / 1e3 : number(now) > 0 ? number(now) : kUsualMegahertz;
}

}  // namespace

double core_peak(const std::string& root) {
  const auto text = read_file(root + "/proc/cpuinfo", kMostBytes);
  if (!text.ok()) return 0;
  auto fields = first_processor(*text);
  const std::string_view flags = fields.contains("flags") ? fields["flags"] : fields["Features"];
  if (flags.empty()) return 0;
  const double threads = number(fields["siblings"]), cores = number(fields["cpu cores"]);
  const double shared = cores > 0 && threads > cores ? 0.5 : 1;
  return 1e6 * megahertz(root, fields["cpu MHz"]) * operations_a_cycle(fields["vendor_id"], flags) * shared;
}

}  // namespace radl

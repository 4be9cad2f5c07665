#include "engine/cli/machine_load.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace radl::engine::cli {

LoadMeter::LoadMeter() : begin_(now()) {}

LoadMeter::Counts LoadMeter::now() {
  Counts counts;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    double ran = 0, waited = 0;
    if (std::ifstream(thread.path() / "schedstat") >> ran >> waited)
      counts.ran += ran, counts.waited += waited;
  }
  // user nice system idle iowait irq softirq steal
  constexpr int kFields = 8;
  std::ifstream all("/proc/stat");
  std::string name;
  all >> name;
  double ticks = 0;
  for (int field = 0; field < kFields && all >> ticks; ++field) {
    counts.all += ticks;
    if (field == kFields - 1) counts.stolen = ticks;
  }
  return counts;
}

MachineLoad LoadMeter::so_far() const {
  const Counts end = now();
  const auto share = [](double part, double whole) {
    return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
  };
  const double waited = end.waited - begin_.waited;
  return {share(waited, end.ran - begin_.ran + waited),
          share(end.stolen - begin_.stolen, end.all - begin_.all)};
}

}  // namespace radl::engine::cli

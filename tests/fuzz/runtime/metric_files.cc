// Any bytes as what a task writes to its files with metrics: the same reports, in whatever pieces they
// arrive.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/digest.h"
#include "runtime/steps/farm/metric_files.h"

using namespace radl;

namespace {

std::string piece(const char* key, size_t offset, std::string_view bytes) {
  return std::string(key) + " " + std::to_string(offset) + " " + base64_encode(bytes);
}

struct Seen {
  std::vector<std::string> reports;
  bool damaged = false;
};

Seen read(const char* key, std::string_view bytes, size_t size) {
  farm::MetricFiles files("loss");
  Seen seen;
  for (size_t at = 0; at < bytes.size(); at += size) {
    auto reports = files.take("t.1", piece(key, at, bytes.substr(at, size)));
    seen.damaged = seen.damaged || !reports.ok();
    if (reports.ok()) seen.reports.insert(seen.reports.end(), reports->begin(), reports->end());
  }
  if (const std::string rest = files.rest("t.1"); !seen.damaged && !rest.empty())
    seen.reports.push_back(rest);
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const char* key : {"e1", "l1"}) {
    const Seen whole = read(key, bytes, bytes.size()), parts = read(key, bytes, 1 + data[0]);
    // A damaged record is found at the latest once all of it is there; what came before is passed on.
    if (whole.damaged != parts.damaged) std::abort();
    if (!whole.damaged && whole.reports != parts.reports) std::abort();
  }
  farm::MetricFiles files("loss");
  (void)files.take("t.1", std::string(bytes));
  (void)files.rest("t.1");
  return 0;
}

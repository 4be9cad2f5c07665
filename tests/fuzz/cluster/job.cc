// Any bytes as a job file; what is accepted is written and read back as the same bytes.
#include <cstdint>
#include <string_view>

#include "engine/train/job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl::engine;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  radl::Result<Job> job = parse_job(text, "job.json");
  if (!job.ok()) return 0;
  std::string written = write_job(*job);
  radl::Result<Job> again = parse_job(written, "written.json");
  if (!again.ok() || write_job(*again) != written) __builtin_trap();
  return 0;
}

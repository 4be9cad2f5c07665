// Any bytes as a plan file: as they are, and as the body behind a first line that fits. What is accepted is
// written and read back as the same bytes, can be shown in every way, and has a graph or says why not.
#include "runtime/plan/plan_file.h"

#include <cstdint>
#include <string>

#include "common/digest.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/render.h"

namespace {

void look(const std::string& bytes) {
  using namespace radl;
  Result<SavedPlan> saved = decode_plan_file(bytes);
  if (!saved.ok()) return;
  std::string written = encode_plan_file(*saved);
  Result<SavedPlan> again = decode_plan_file(written);
  if (!again.ok() || encode_plan_file(*again) != written) __builtin_trap();
  PlanTextOptions full;
  full.full = full.color = true;
  (void)render_text(saved->plan);
  (void)render_text(saved->plan, full);
  (void)render_html(saved->plan);
  (void)render_dot(saved->plan);
  (void)plan_graph(saved->plan);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  look(text);
  look("radlplan " + std::to_string(radl::kPlanVersion) + " " + radl::sha256_hex(text) + "\n" + text);
  return 0;
}

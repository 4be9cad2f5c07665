#include "engine/cli/bench_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace radl::engine::cli {

namespace {

struct Row {
  std::string name, kernel;
  double forward = 0, backward = 0;  // seconds a step
  double flop = 0, bytes = 0;        // a step
  double seconds() const { return forward + backward; }
};

// "own winograd: why" without why.
std::string kernel_of(const OperationTime& o) {
  if (o.kernel.empty()) return "element-wise";
  return o.kernel.substr(0, o.kernel.find(": "));
}

std::vector<Row> operation_rows(const Profile& p) {
  std::vector<Row> rows;
  for (const OperationTime& o : p.operations)
    rows.push_back({o.name, kernel_of(o), o.forward_seconds / p.steps, o.backward_seconds / p.steps,
                    (o.forward_flop + o.backward_flop) / p.steps,
                    (o.forward_bytes + o.backward_bytes) / p.steps});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.seconds() > b.seconds(); });
  return rows;
}

std::vector<Row> kernel_rows(const std::vector<Row>& operations) {
  std::map<std::string, Row> by_kernel;
  for (const Row& o : operations) {
    Row& row = by_kernel[o.kernel];
    row.name = o.kernel;
    row.forward += o.forward, row.backward += o.backward, row.flop += o.flop, row.bytes += o.bytes;
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_kernel) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.seconds() > b.seconds(); });
  return rows;
}

double rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

std::string row_text(const Row& r, const Profile& p) {
  const double flops = rate(r.flop, r.seconds()), bytes = rate(r.bytes, r.seconds());
  return fmt::format("{:<44.44} {:>8.2f} {:>8.2f} {:>6.1f}% {:>9.0f} {:>5.0f}% {:>7.1f} {:>5.0f}%\n", r.name,
                     r.forward * 1e3, r.backward * 1e3, 100 * r.seconds() / p.step_seconds, flops / 1e9,
                     100 * rate(flops, p.peaks.gemm_flops), bytes / 1e9,
                     100 * rate(bytes, p.peaks.bandwidth));
}

nlohmann::ordered_json row_json(const Row& r, const Profile& p) {
  const double flops = rate(r.flop, r.seconds()), bytes = rate(r.bytes, r.seconds());
  return {{"name", r.name},
          {"kernel", r.kernel},
          {"forward_seconds", r.forward},
          {"backward_seconds", r.backward},
          {"share", r.seconds() / p.step_seconds},
          {"gflops", flops / 1e9},
          {"of_gemm_peak", rate(flops, p.peaks.gemm_flops)},
          {"gbytes_per_second", bytes / 1e9},
          {"of_bandwidth_peak", rate(bytes, p.peaks.bandwidth)}};
}

double unaccounted(const std::vector<Row>& rows, const Profile& p) {
  double sum = 0;
  for (const Row& r : rows) sum += r.seconds();
  return std::max(0.0, p.step_seconds - sum);
}

}  // namespace

std::string profile_text(const Profile& p) {
  constexpr size_t kShown = 20;
  const std::vector<Row> operations = operation_rows(p);
  const std::string head = fmt::format("{:<44} {:>8} {:>8} {:>7} {:>9} {:>6} {:>7} {:>6}\n", "", "fwd ms",
                                       "bwd ms", "share", "GFLOP/s", "peak", "GB/s", "peak");
  std::string text = fmt::format(
      "\none step {:.2f} ms; peaks measured in this run: matrix product {:.0f} GFLOP/s, memory {:.1f} GB/s\n"
      "work is counted as of plain convolutions, so Winograd may pass the peak; bytes are each activation "
      "once an operation, so caches may\n{}",
      p.step_seconds * 1e3, p.peaks.gemm_flops / 1e9, p.peaks.bandwidth / 1e9, head);
  for (const Row& r : kernel_rows(operations)) text += row_text(r, p);
  const double rest = unaccounted(operations, p);
  text += fmt::format("{:<44} {:>17.2f} {:>6.1f}%\n\n{}", "between operations", rest * 1e3,
                      100 * rest / p.step_seconds, head);
  for (size_t i = 0; i < std::min(kShown, operations.size()); ++i) text += row_text(operations[i], p);
  return text;
}

nlohmann::ordered_json profile_json(const Profile& p) {
  const std::vector<Row> operations = operation_rows(p);
  auto kernels = nlohmann::ordered_json::array(), all = nlohmann::ordered_json::array();
  for (const Row& r : kernel_rows(operations)) kernels.push_back(row_json(r, p));
  for (const Row& r : operations) all.push_back(row_json(r, p));
  return {{"step_seconds", p.step_seconds},
          {"gemm_peak_gflops", p.peaks.gemm_flops / 1e9},
          {"bandwidth_peak_gbytes_per_second", p.peaks.bandwidth / 1e9},
          {"between_operations_seconds", unaccounted(operations, p)},
          {"kernels", kernels},
          {"operations", all}};
}

}  // namespace radl::engine::cli

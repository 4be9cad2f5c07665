// Anwar et al.: the look-up, and the time model that its rows are read with.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/foresight/anwar.h"

namespace radl::foresight {
namespace {

std::string question_text(int batch, double latency_ms) {
  return fmt::format("batch {} at {} ms", batch, latency_ms);
}

// The questions that the rows answer, nearest first: by the ratio of the batches, then by latency.
std::string nearest_questions(const std::vector<StudyRow>& rows, int batch, double latency_ms) {
  std::set<std::tuple<double, double, int, double>> near;
  for (const StudyRow& row : rows) {
    if (!row.seconds) continue;
    near.insert({std::fabs(std::log(static_cast<double>(row.batch) / batch)),
                 std::fabs(row.latency_ms - latency_ms), row.batch, row.latency_ms});
  }
  std::string text;
  int named = 0;
  for (const auto& [ratio, away, its_batch, its_latency] : near) {
    if (named++ == 3) break;
    text += (text.empty() ? "" : ", ") + question_text(its_batch, its_latency);
  }
  return text;
}

std::string failed_runs(const std::vector<StudyRow>& rows, int batch) {
  for (const StudyRow& row : rows) {
    if (!row.seconds && row.batch == batch)
      return fmt::format("; of {} machine{} batch {} does not fit into memory", row.machines,
                         row.machines == 1 ? "" : "s", row.batch);
  }
  return "";
}

std::optional<double> seconds_at(const std::vector<StudyRow>& rows, int machines, int batch,
                                 double latency_ms) {
  for (const StudyRow& row : rows) {
    if (row.machines == machines && row.batch == batch && row.latency_ms == latency_ms) return row.seconds;
  }
  return std::nullopt;
}

}  // namespace

Result<StudyRow> look_up(const std::vector<StudyRow>& rows, int batch, double latency_ms, Reading reading) {
  if (batch < 1 || !(latency_ms >= 0) || !std::isfinite(latency_ms))
    return Status(Code::Invalid, question_text(batch, latency_ms) +
                                     ": a batch of at least 1 and a latency of at least 0 ms");
  const StudyRow* best = nullptr;
  bool asked = false;
  for (const StudyRow& row : rows) {
    const bool alone = reading == Reading::Ours && row.machines == 1;
    if (!row.seconds || row.batch != batch || (row.latency_ms != latency_ms && !alone)) continue;
    asked |= row.latency_ms == latency_ms;
    auto key = [](const StudyRow& one) { return std::pair(*one.seconds, one.machines); };
    if (best == nullptr || key(row) < key(*best)) best = &row;
  }
  // One machine alone answers no question about a latency at which no cluster was measured.
  if (best != nullptr && asked) return *best;
  const std::string near = nearest_questions(rows, batch, latency_ms);
  return Status(Code::NotFound, "no row has " + question_text(batch, latency_ms))
      .with_hint((near.empty() ? "there are no rows" : "the nearest: " + near) + failed_runs(rows, batch));
}

double epoch_seconds(double operations, double operations_per_second, double latency_seconds,
                     double messages) {
  return operations / operations_per_second + latency_seconds * messages;
}

std::optional<double> messages_of(const std::vector<StudyRow>& rows, int machines, int batch,
                                  double from_latency_ms, double to_latency_ms) {
  const auto from = seconds_at(rows, machines, batch, from_latency_ms),
             to = seconds_at(rows, machines, batch, to_latency_ms);
  if (!from || !to || from_latency_ms == to_latency_ms) return std::nullopt;
  return (*to - *from) / ((to_latency_ms - from_latency_ms) / 1000);
}

std::optional<double> line_over_latency(const std::vector<StudyRow>& rows, int machines, int batch,
                                        double from_latency_ms, double to_latency_ms, double latency_ms) {
  const auto from = seconds_at(rows, machines, batch, from_latency_ms);
  if (machines == 1 || !from) return from;
  const auto messages = messages_of(rows, machines, batch, from_latency_ms, to_latency_ms);
  if (!messages) return std::nullopt;
  return epoch_seconds(*from, 1, (latency_ms - from_latency_ms) / 1000, *messages);
}

}  // namespace radl::foresight

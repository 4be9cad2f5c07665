// Published data: epoch times of clusters (Anwar et al. 2021) and instance types with prices (FC2, 2018).
//
// In: nothing, or text with the same columns. Out: rows. The files are data/*.csv, each with its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl::foresight {

struct StudyRow {
  std::string study;    // "mnist", "cifar"
  std::string machine;  // "ec2 t2.large"
  int machines = 1;
  int batch = 0;                  // images per step of the whole cluster
  double latency_ms = 0;          // as printed: emulated on each machine
  std::optional<double> seconds;  // of an epoch; nullopt: the run failed, the batch does not fit into memory
  std::string where;              // "figure 9"
};

struct PublishedType {
  std::string name;
  bool server = false;  // offered as a parameter server; otherwise as a worker
  Money per_hour;
  double network_mbps = 0;  // 0: not given
};

// The rows of one study in file order; empty: all.
std::vector<StudyRow> study_rows(std::string_view study = {});
std::vector<PublishedType> fc2_types();

// Parses text with the same columns. Invalid names the line.
Result<std::vector<StudyRow>> read_study_rows(std::string_view text, const std::string& name);

}  // namespace radl::foresight

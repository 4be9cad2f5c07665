// The figures of a run since its first step. Checkpoints store them for the report of a resumed run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::engine {

// Recorded at the end of an epoch (or whenever the network was evaluated).
struct CurvePoint {
  double epoch = 0;
  uint64_t step = 0;
  double seconds = 0;  // of training so far, in all runs
  double train_loss = 0, train_accuracy = 0, test_loss = 0, test_accuracy = 0;
  double rate = 0;
};

struct PeerEvent {
  double seconds = 0;
  std::string kind, peer, text;  // joined, left, lost
};

struct History {
  std::vector<CurvePoint> curve;
  std::vector<PeerEvent> peers;
  double seconds = 0;  // training time of earlier runs
  uint64_t images = 0;
  double train_loss = 0, train_accuracy = 0;  // since the last evaluation before the checkpoint
  int runs = 1;                               // 1 + number of resumptions
};

std::string write_history(const History& history);
Result<History> read_history(const std::string& json);

}  // namespace radl::engine

// The question of a forecast: what is trained, and on which machine.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/foresight/step_model.h"

namespace radl::foresight {

// The computation of a step. Equal work on the same machine takes equal time, whatever the names of model and
// dataset.
struct Work {
  std::string digest;         // of the graph, input shape, classes and precision; "": unknown
  double flop_per_image = 0;  // forward and backward; 0: unknown
  double parameter_bytes = 0;
  double convolved = 0;  // share of the parameters in convolutions, which have another speed than products
  double activation_bytes = 0;  // size of its layers' outputs for an image, in fp32
};

struct TrainingFacts {
  std::string name;    // "cifar"
  std::string family;  // for display: "resnet20 on cifar10"
  Work work;
  std::string work_unknown;            // why work.digest is empty
  double images = 0, test_images = 0;  // per epoch; images 0: unknown
  double epochs = 1;
  double batch = 128;  // per worker
  Exchange exchange = Exchange::Alone;
  int workers = 1, servers = 0, local_steps = 1;
  int delay = 0;                   // local steps during an exchange
  double exchanged_share = 1;      // relative to the parameters' fp32 bytes: 0.5 for bf16
  double checkpoint_seconds = 60;  // between two checkpoints
};

// CPU credits: a machine earns them up to a baseline and spends them above it. Values for all virtual cores.
struct CpuCredits {
  double baseline = 1;        // share of the cores always available; 1: not a burstable machine
  double launch_seconds = 0;  // initial credits, in seconds of one core at full use
  bool throttled = true;      // without credits it runs at the baseline; otherwise the surplus is charged
  int64_t surplus_micros_per_hour = 0;  // of the whole machine at full use, in addition to its price
  bool burstable() const { return baseline < 1; }
};

struct MachineFacts {
  std::string kind;  // "local", "ec2 m5.xlarge"
  double cores = 0, memory_bytes = 0;
  double bits_per_second = 0;         // 0: unknown
  double server_bits_per_second = 0;  // 0: same as a worker's
  bool shared = false;                // all nodes share the cores and memory of one computer
  double core_peak = 0;  // fp32 operations per second of a core, from clock and width; 0: unknown
  CpuCredits credits = {};
  double gpus = 0;
};

}  // namespace radl::foresight

// What is trained, and on what machine: the questions that a forecast answers.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/foresight/step_model.h"

namespace radl::foresight {

// What a step computes. Times of the same work on the same machine are alike, whatever the model and the
// dataset are called.
struct Work {
  std::string digest;  // of the graph, the shape of its input, the classes and the precision; "": not known
  double flop_per_image = 0;  // forward and backward; 0: not known
  double parameter_bytes = 0;
  double convolved = 0;  // share of the parameters in convolutions, which run at other speeds than products
  double activation_bytes = 0;  // what its layers give for an image, in fp32
};

struct TrainingFacts {
  std::string name;    // "cifar"
  std::string family;  // for people: "resnet20 on cifar10"
  Work work;
  std::string work_unknown;            // why work.digest is empty
  double images = 0, test_images = 0;  // of an epoch; images 0: not known
  double epochs = 1;
  double batch = 128;  // of one worker
  Exchange exchange = Exchange::Alone;
  int workers = 1, servers = 0, local_steps = 1;
  int delay = 0;                   // local steps while an exchange runs
  double exchanged_share = 1;      // of the parameters' fp32 bytes: 0.5 for bf16
  double checkpoint_seconds = 60;  // between two
};

// A machine whose processors earn credits up to a baseline and spend them above it. Of all virtual cores.
struct CpuCredits {
  double baseline = 1;  // share of the cores that can be used for ever; 1: the machine is not of the kind
  double launch_seconds = 0;  // of a core at full use, that a new machine has credits for
  bool throttled = true;      // without credits it computes at the baseline; else the surplus is charged
  int64_t surplus_micros_per_hour = 0;  // of the whole machine at full use, above its price
  bool burstable() const { return baseline < 1; }
};

struct MachineFacts {
  std::string kind;  // "local", "ec2 m5.xlarge"
  double cores = 0, memory_bytes = 0;
  double bits_per_second = 0;         // 0: not known
  double server_bits_per_second = 0;  // 0: as a worker's
  bool shared = false;                // all nodes are on one computer and share its cores and memory
  double core_peak = 0;  // fp32 operations a second of one core, by its clock and width; 0: not known
  CpuCredits credits = {};
  double gpus = 0;
};

}  // namespace radl::foresight

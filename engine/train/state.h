// What trains, as a checkpoint and back: for the tasks that hold weights and optimizer themselves.
#pragma once

#include "engine/cluster/message.h"
#include "engine/optim/optimizer.h"
#include "engine/train/checkpoint.h"
#include "engine/train/setup.h"

namespace radl::engine {

// What updates a network, and its training batches.
struct Supplies {
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<data::Loader> batches;
};
Result<Supplies> make_supplies(const Setup& setup, const Job& job);

// A network, what updates it, and the mean of its weights.
struct Trainee {
  Network& network;
  Optimizer& optimizer;
  WeightAverage& average;
};

// `tickets`: what is done of the run.
Checkpoint capture(const Trainee& from, const cluster::TicketState& tickets);
// Corrupt when sizes do not fit.
Status restore(const Checkpoint& from, const Trainee& to);

// Whether the job can resume from the checkpoint. Invalid says in what the two differ.
Status check_fits(const Checkpoint& checkpoint, const Job& job, const Setup& setup);

// The same as what a ring's members hand around, and back.
cluster::Init to_init(Checkpoint from);
Checkpoint from_init(cluster::Init from);

}  // namespace radl::engine

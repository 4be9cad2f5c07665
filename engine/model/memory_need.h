// Minimum memory of a model, estimated from its layers.
#pragma once

#include "engine/model/graph.h"
#include "engine/model/network.h"

namespace radl::engine {

// A lower bound in bytes: parameters, and the activations that must exist at the same time (in training,
// those that weighted layers read again in the backward pass).
size_t least_memory(const Graph& graph, const BuildOptions& options);

// Quota, with both numbers, if more is needed than is free. Reports this before anything is allocated.
Status check_least_memory(const Graph& graph, const BuildOptions& options);

// The message for that error; `bound` is "" or "at least ".
Status too_little_memory(const Graph& graph, int batch, const char* bound, size_t needed, size_t available);

}  // namespace radl::engine

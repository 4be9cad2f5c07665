// Stratified parts of a dataset: the same on every machine and with any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/dataset.h"

namespace radl::engine::data {

// The records of `base` with these indices, in this order, without a copy. Keeps `base` alive.
DatasetPtr select(DatasetPtr base, std::vector<uint32_t> indices);

struct Split {
  DatasetPtr taken, rest;
};
// Takes `count` records, from each class in proportion to its size (largest remainders first). The choice
// within a class depends only on `seed` and the records' numbers. Both parts keep the order of `base`. With
// `leave_one`, `rest` keeps at least one record of each class, so fewer may be taken.
Split stratified_split(const DatasetPtr& base, size_t count, uint64_t seed, bool leave_one);

}  // namespace radl::engine::data

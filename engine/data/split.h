// Parts of a dataset in which every class has its share: the same on every machine, whatever its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/dataset.h"

namespace radl::engine::data {

// The records of `base` with these indices, in this order, without a copy; it keeps `base` alive.
DatasetPtr select(DatasetPtr base, std::vector<uint32_t> indices);

struct Split {
  DatasetPtr taken, rest;
};
// Takes `count` records, from each class in proportion to its size (largest remainders first), chosen within
// the class by `seed` and the records' numbers and nothing else. Both parts keep the order of `base`. With
// `leave_one` no class is taken whole, so that `rest` still has a record of each; then fewer may be taken.
Split stratified_split(const DatasetPtr& base, size_t count, uint64_t seed, bool leave_one);

}  // namespace radl::engine::data

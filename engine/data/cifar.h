// Reads CIFAR-10 and CIFAR-100 as published: binary files of fixed-size records. Format
// (https://www.cs.toronto.edu/~kriz/cifar.html): label bytes (1 for CIFAR-10; coarse and fine for CIFAR-100),
// then 3072 bytes of pixels: 1024 red, 1024 green, 1024 blue, row by row.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct CifarOptions {
  int classes = 10;           // 10 or 100 (fine labels)
  bool skip_corrupt = false;  // skip and count corrupt records
};

// Parses one file. `name` appears in errors: "data_batch_1.bin: record 17: label 12 is not in 0..9".
Status parse_cifar(std::string_view bytes, const std::string& name, const CifarOptions& options,
                   std::vector<uint8_t>& pixels, std::vector<int32_t>& labels, ReadReport& report);

// Reads data_batch_1..5.bin (any prefix of them, at least the first) or test_batch.bin, from `directory` or
// its subfolder cifar-10-batches-bin; for CIFAR-100 train.bin and test.bin, also from cifar-100-binary.
Result<DatasetPtr> read_cifar(const std::string& directory, bool training, const CifarOptions& options = {});

const std::vector<std::string>& cifar10_class_names();

}  // namespace radl::engine::data

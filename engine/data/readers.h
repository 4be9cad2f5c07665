// The other formats: IDX (MNIST), CSV, folders of pictures, and our packed records. All bounded, all errors
// with file and record; what a reader leaves out on `skip_corrupt` is in Dataset::report().
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct ReaderOptions {
  bool skip_corrupt = false;
  InputShape shape{0, 0, 0};  // csv: how to see a row; folder: what pictures are scaled to
};

// IDX (yann.lecun.com/exdb/mnist): {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, also with '.' for
// the second
// '-' and gzipped; images n x rows x columns, or n x rows x columns x channels.
Result<DatasetPtr> read_idx(const std::string& directory, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_idx(std::string_view images, std::string_view labels, const std::string& name);

// One picture a line: label, then height x width x channels numbers 0..255 (channel fastest). A first line
// that is no numbers is a header; its column "label" may be anywhere. `path`: a file, or a folder with
// train.csv and test.csv.
Result<DatasetPtr> read_csv(const std::string& path, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_csv(std::string_view text, const std::string& name, const ReaderOptions& options);

// DIRECTORY/{train,test}/CLASS/*.{jpg,jpeg,png} ("val" and "validation" count as test), or DIRECTORY/CLASS/*
// for training alone. Classes in the order of their names. Pictures are decoded when they are asked for, on
// the loader's threads.
Result<DatasetPtr> read_folder(const std::string& directory, bool training,
                               const ReaderOptions& options = {});

// Packed records: docs/data.md has the format. Checked by CRC-32C, record by record, when they are read.
Result<DatasetPtr> read_packed(const std::string& path, bool training, const ReaderOptions& options = {});
// Atomic. Pictures that cannot be decoded are an error, or with skip_corrupt left out; gives how many were
// written.
Result<size_t> write_packed(const std::string& path, const Dataset& dataset, bool skip_corrupt = false);

// The whole file, unpacked when it is gzip; Quota beyond limit bytes.
Result<std::string> read_maybe_gzip(const std::string& path, size_t limit);

}  // namespace radl::engine::data

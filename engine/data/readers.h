// Readers of the other formats: IDX (MNIST), CSV, image folders, and radl's packed records. All are bounded;
// all errors name file and record. Dataset::report() lists what was skipped by `skip_corrupt`.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/data/dataset.h"
#include "engine/data/image_files.h"

namespace radl::engine::data {

struct ReaderOptions {
  bool skip_corrupt = false;
  // csv: shape of a row of pixels; image files: target size. Zeros: detected.
  InputShape shape{0, 0, 0};
};

// IDX (yann.lecun.com/exdb/mnist): {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, also with
// '.' for the second '-', and gzipped. Images are n x rows x columns, or n x rows x columns x
// channels.
Result<DatasetPtr> read_idx(const std::string& directory, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_idx(std::string_view images, std::string_view labels, const std::string& name);

// Either one image per line: a label, then height x width x channels numbers 0..255 (channel fastest); a
// non-numeric first line is a header, whose column "label" may be anywhere. Or, if the header has a column
// "file" (filename, path, image): one image file per line, below the CSV's folder, with its "label", any
// text. `path`: a file, a folder with train.csv and test.csv (or .csv.gz), or a folder with a single CSV
// file. Quota: a line over 16 MiB, or more than 4 GiB of pixels.
Result<DatasetPtr> read_csv(const std::string& path, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_csv(std::string_view text, const std::string& name, const ReaderOptions& options);
// The file of the part; "" if there is none.
std::string csv_file(const std::string& place, bool training);

// DIRECTORY/{train,test}/CLASS/... ("val", "valid" and "validation" count as test), or
// DIRECTORY/CLASS/... for training only; images (.jpg, .jpeg, .png) may lie deeper. If a folder contains
// only another folder, that one is read. Classes are sorted by name. Images are decoded on demand, on the
// loader's threads.
Result<DatasetPtr> read_folder(const std::string& directory, bool training,
                               const ReaderOptions& options = {});
Result<ImageFiles> list_folder(const std::string& directory, bool training);
struct FolderParts {
  std::string training, test;  // folders; test "": none
  bool test_alone = false;     // only a test part exists
};
FolderParts folder_parts(const std::string& directory);

// Reads packed records (format: docs/data.md). Verifies the CRC-32C of each record when it is read.
Result<DatasetPtr> read_packed(const std::string& path, bool training, const ReaderOptions& options = {});
// Writes atomically and returns the number of records. An undecodable image is an error, or is skipped with
// skip_corrupt.
Result<size_t> write_packed(const std::string& path, const Dataset& dataset, bool skip_corrupt = false);

// Reads a whole file and decompresses gzip. Quota: more than `limit` bytes, or a result of more than 64 MiB
// and 100 times the file's size.
Result<std::string> read_maybe_gzip(const std::string& path, size_t limit);

}  // namespace radl::engine::data

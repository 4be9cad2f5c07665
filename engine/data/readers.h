// The other formats: IDX (MNIST), CSV, folders of images, and our packed records. All bounded, all errors
// with file and record; what a reader leaves out on `skip_corrupt` is in Dataset::report().
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/data/dataset.h"
#include "engine/data/image_files.h"

namespace radl::engine::data {

struct ReaderOptions {
  bool skip_corrupt = false;
  // csv: how to see a row of pixels; image files: what they are scaled to. Zeros: found out.
  InputShape shape{0, 0, 0};
};

// IDX (yann.lecun.com/exdb/mnist): {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, also with '.' for
// the second
// '-' and gzipped; images n x rows x columns, or n x rows x columns x channels.
Result<DatasetPtr> read_idx(const std::string& directory, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_idx(std::string_view images, std::string_view labels, const std::string& name);

// Either one image a line: label, then height x width x channels numbers 0..255 (channel fastest); a first
// line that is no numbers is a header, whose column "label" may be anywhere. Or, when the header has a column
// "file" (filename, path, image), one image file a line, below the CSV's folder, and its "label", any text.
// `path`: a file, or a folder with train.csv and test.csv (or .csv.gz), or with one CSV file of any name. A
// line of more than 16 MiB, and more than 4 GiB of pixels, are Quota.
Result<DatasetPtr> read_csv(const std::string& path, bool training, const ReaderOptions& options = {});
Result<DatasetPtr> parse_csv(std::string_view text, const std::string& name, const ReaderOptions& options);
// The file of the part; "" where there is none.
std::string csv_file(const std::string& place, bool training);

// DIRECTORY/{train,test}/CLASS/... ("val", "valid" and "validation" count as test), or DIRECTORY/CLASS/...
// for training alone; images (.jpg, .jpeg, .png) may lie deeper. A folder that holds nothing but the real one
// is looked through. Classes in the order of their names. Images are decoded when they are asked for, on the
// loader's threads.
Result<DatasetPtr> read_folder(const std::string& directory, bool training,
                               const ReaderOptions& options = {});
Result<ImageFiles> list_folder(const std::string& directory, bool training);
struct FolderParts {
  std::string training, test;  // folders; test "": there is none
  bool test_alone = false;     // a test part without a training part
};
FolderParts folder_parts(const std::string& directory);

// Packed records: docs/data.md has the format. Checked by CRC-32C, record by record, when they are read.
Result<DatasetPtr> read_packed(const std::string& path, bool training, const ReaderOptions& options = {});
// Atomic. Images that cannot be decoded are an error, or with skip_corrupt left out; gives how many were
// written.
Result<size_t> write_packed(const std::string& path, const Dataset& dataset, bool skip_corrupt = false);

// The whole file, unpacked when it is gzip; Quota beyond limit bytes, and where it unpacks to more than 64
// MiB and 100 times its size.
Result<std::string> read_maybe_gzip(const std::string& path, size_t limit);

}  // namespace radl::engine::data

// The files that a dataset of the user's own consists of: one rule for the plan's digest, for what is sent
// to nodes, and for what the engine reads.
//
// A dataset is a folder (of folders of images, or of the files of a known format), a CSV file (with the
// images that its column `file` names), or an archive or packed file. Names that begin with a dot, and what
// macOS puts into archives (__MACOSX), do not count. Symbolic links are followed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

struct DatasetFile {
  std::string name;  // relative to the root, with '/' between
  uint64_t size = 0;
};

struct DatasetFiles {
  std::string path;                // of the dataset itself, a folder or file
  std::string root;                // the folder, or the one that the file lies in
  std::vector<DatasetFile> files;  // sorted by name
};

// True for what names a place (a path or a URI) and not a dataset that is known by its name: it holds a '/',
// or ends like an archive, CSV or packed file, or is "." or "..".
bool names_a_place(std::string_view dataset);
// "s3://bucket/x": lies elsewhere. file:// does not.
bool is_remote_place(std::string_view place);
// The path that a place on this computer has: without "file://" in front.
std::string path_of_place(std::string_view place);
// Whether a file or folder of this name (without the folders above it) can belong to a dataset.
bool counts_in_dataset(std::string_view name);
// By the end of its name: .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar.zst, .zip.
bool is_archive_name(std::string_view path);
// .csv, .csv.gz
bool is_csv_name(std::string_view path);
// .jpg, .jpeg, .png, in any case
bool is_image_name(std::string_view path);
// "images" of "/data/images.tar.gz": what the folder on the nodes is called. Letters, digits, '.', '_',
// '-'.
std::string place_stem(std::string_view place);
// False for absolute names and such that lead out of their folder.
bool stays_below(std::string_view name);

// Files below a folder. Quota: more than 5 million, or nested deeper than 32 (a link that leads to itself).
Result<std::vector<DatasetFile>> files_below(const std::string& folder);
// NotFound: the path does not exist. Corrupt: a malformed CSV file that names images.
Result<DatasetFiles> list_dataset(const std::string& path);

// The columns of label and file by the header line of a CSV. -1: there is no such column.
struct CsvColumns {
  int label = -1, file = -1;
};
CsvColumns csv_columns(const std::vector<std::string_view>& header);

}  // namespace radl

// Defines which files belong to a user's dataset. The plan's digest, the transfer to nodes and the engine
// share this rule.
//
// A dataset is a folder (of image folders, or of the files of a known format), a CSV file (with the images
// that its column `file` names), or an archive or packed file. Names that begin with a dot and macOS metadata
// in archives (__MACOSX) do not count. Symbolic links are followed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

struct DatasetFile {
  std::string name;  // relative to the root, with '/' as separator
  uint64_t size = 0;
};

struct DatasetFiles {
  std::string path;                // the dataset's own path: a folder or file
  std::string root;                // the folder, or the folder that contains the file
  std::vector<DatasetFile> files;  // sorted by name
};

// True if the text is a path or URI instead of the name of a known dataset: it contains a '/', ends like an
// archive, CSV or packed file, or is "." or "..".
bool names_a_place(std::string_view dataset);
// True for a remote URI such as "s3://bucket/x". False for file://.
bool is_remote_place(std::string_view place);
// Path of a local place, without the prefix "file://".
std::string path_of_place(std::string_view place);
// True if a file or folder of this name (without parent folders) can belong to a dataset.
bool counts_in_dataset(std::string_view name);
// Decides by the extension: .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar.zst, .zip.
bool is_archive_name(std::string_view path);
// .csv, .csv.gz
bool is_csv_name(std::string_view path);
// .jpg, .jpeg, .png, in any case
bool is_image_name(std::string_view path);
// Name of the dataset's folder on the nodes: "images" for "/data/images.tar.gz". Contains only letters,
// digits, '.', '_' and '-'.
std::string place_stem(std::string_view place);
// False for absolute names and for names that lead out of their folder.
bool stays_below(std::string_view name);

// All files below a folder. Quota: over 5 million files, or nested over 32 deep (a link to a parent).
Result<std::vector<DatasetFile>> files_below(const std::string& folder);
// NotFound: the path does not exist. Corrupt: a malformed CSV file that names images.
Result<DatasetFiles> list_dataset(const std::string& path);

// Columns `label` and `file` by a CSV's header line; -1 if missing.
struct CsvColumns {
  int label = -1, file = -1;
};
CsvColumns csv_columns(const std::vector<std::string_view>& header);

}  // namespace radl

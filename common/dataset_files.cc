#include "common/dataset_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "common/csv_line.h"
#include "common/files.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 5'000'000;
constexpr int kDeepest = 32;
constexpr size_t kLongestLine = size_t{16} << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool ends_like(std::string_view path, std::initializer_list<std::string_view> ends) {
  const std::string text = lower(path);
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return text.ends_with(end); });
}

std::string folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path().string() : ".";
}

// std::getline without bounds would take a file without line ends into memory.
bool next_line(std::istream& in, std::string& line, bool& too_long) {
  line.clear();
  for (int c; (c = in.get()) != std::char_traits<char>::eof();) {
    if (c == '\n') return true;
    if (line.size() == kLongestLine) {
      too_long = true;
      return false;
    }
    line += char(c);
  }
  return !line.empty();
}

// The images that a CSV names, and itself. A compressed one holds pixels.
Result<DatasetFiles> list_csv(const fs::path& path) {
  DatasetFiles all{path.string(), folder_of(path), {{path.filename().string(), 0}}};
  std::error_code error;
  all.files[0].size = fs::file_size(path, error);
  if (error) return errno_status(error.value(), path.string());
  std::ifstream in(path);
  std::string text;
  CsvLine line;
  bool too_long = false;
  if (lower(path.string()).ends_with(".gz") || !next_line(in, text, too_long)) return all;
  line.split(text);
  const CsvColumns columns = csv_columns(line.fields());
  if (columns.file < 0) return all;
  for (size_t number = 2; next_line(in, text, too_long); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    line.split(text);
    const std::string where = path.string() + ":" + std::to_string(number) + ": ";
    if (size_t(columns.file) >= line.fields().size())
      return Status(Code::Corrupt, where + "has no field for the file");
    const std::string name(line.fields()[size_t(columns.file)]);
    if (!stays_below(name))
      return Status(Code::Invalid, where + "\"" + name + "\" is not a file below the CSV's folder");
    const uint64_t size = fs::file_size(path.parent_path() / name, error);
    if (error) return Status(Code::NotFound, where + "\"" + name + "\": " + error.message());
    all.files.push_back({fs::path(name).lexically_normal().generic_string(), size});
  }
  if (too_long)
    return Status(Code::Quota,
                  path.string() + ": has a line of more than " + std::to_string(kLongestLine >> 20) + " MiB");
  auto by_name = [](const DatasetFile& a, const DatasetFile& b) { return a.name < b.name; };
  auto same = [](const DatasetFile& a, const DatasetFile& b) { return a.name == b.name; };
  std::sort(all.files.begin(), all.files.end(), by_name);
  all.files.erase(std::unique(all.files.begin(), all.files.end(), same), all.files.end());
  return all;
}

}  // namespace

bool is_archive_name(std::string_view path) {
  return ends_like(path, {".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip"});
}
bool is_csv_name(std::string_view path) { return ends_like(path, {".csv", ".csv.gz"}); }
bool is_image_name(std::string_view path) { return ends_like(path, {".jpg", ".jpeg", ".png"}); }

bool names_a_place(std::string_view dataset) {
  return dataset.find('/') != std::string_view::npos || dataset == "." || dataset == ".." ||
         is_archive_name(dataset) || is_csv_name(dataset) || ends_like(dataset, {".radlpack"});
}

std::string path_of_place(std::string_view place) {
  constexpr std::string_view kScheme = "file://";
  return std::string(place.starts_with(kScheme) ? place.substr(kScheme.size()) : place);
}

bool counts_in_dataset(std::string_view name) { return !name.starts_with('.') && name != "__MACOSX"; }

bool is_remote_place(std::string_view place) {
  return place.find("://") != std::string_view::npos && !place.starts_with("file://");
}

std::string place_stem(std::string_view place) {
  if (is_remote_place(place)) place = place.substr(0, place.find_first_of("?#"));
  while (place.ends_with('/')) place.remove_suffix(1);
  std::string name(place.substr(place.rfind('/') + 1));
  for (std::string_view end : {".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".zip", ".csv", ".radlpack"}) {
    if (name.size() > end.size() && lower(name).ends_with(end)) name.erase(name.size() - end.size());
  }
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '-';
  }
  return name.find_first_not_of('.') == std::string::npos ? "dataset" : name;
}

bool stays_below(std::string_view name) {
  const fs::path path(name);
  return !name.empty() && name.find('\0') == std::string_view::npos && !path.is_absolute() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& p) { return p == ".."; });
}

Result<std::vector<DatasetFile>> files_below(const std::string& folder) {
  std::vector<DatasetFile> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink, error);
  if (error) return errno_status(error.value(), folder);
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (error) return errno_status(error.value(), folder);
    if (!counts_in_dataset(at->path().filename().string())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at.depth() > kDeepest)
      return Status(Code::Quota,
                    at->path().string() + ": lies deeper than " + std::to_string(kDeepest) + " folders");
    std::error_code gone;  // a link without a target counts as little as a socket
    if (!at->is_regular_file(gone) || gone) continue;
    const uint64_t size = at->file_size(gone);
    if (gone) continue;
    files.push_back({at->path().lexically_relative(folder).generic_string(), size});
    if (files.size() > kMostFiles)
      return Status(Code::Quota, folder + ": holds more than " + std::to_string(kMostFiles) + " files");
  }
  if (error) return errno_status(error.value(), folder);
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

Result<DatasetFiles> list_dataset(const std::string& place) {
  fs::path path(path_of_place(place));
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    auto files = files_below(path.string());
    if (!files.ok()) return files.status();
    return DatasetFiles{path.string(), path.string(), std::move(*files)};
  }
  if (!fs::exists(status)) return not_found(path.string() + " does not exist");
  if (!fs::is_regular_file(status)) return invalid(path.string() + ": is neither a file nor a folder");
  if (is_csv_name(path.string())) return list_csv(path);
  const uint64_t size = fs::file_size(path, error);
  if (error) return errno_status(error.value(), path.string());
  return DatasetFiles{path.string(), folder_of(path), {{path.filename().string(), size}}};
}

CsvColumns csv_columns(const std::vector<std::string_view>& header) {
  CsvColumns columns;
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string name = lower(header[i]);
    if (columns.label < 0 && (name == "label" || name == "class")) columns.label = int(i);
    if (columns.file < 0 && (name == "file" || name == "filename" || name == "path" || name == "image"))
      columns.file = int(i);
  }
  return columns;
}

}  // namespace radl

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "common/csv_line.h"
#include "common/dataset_files.h"
#include "common/shorten.h"
#include "engine/data/archive.h"
#include "engine/data/image_files.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

constexpr size_t kLargest = size_t{4} << 30;       // bytes of pixels in memory
constexpr size_t kLongestLine = size_t{16} << 20;  // bytes
constexpr int kMostClasses = 100000;

bool parse_number(std::string_view field, int& out) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), out);
  return error == std::errc() && end == field.data() + field.size();
}

Result<InputShape> shape_of(size_t pixels, const ReaderOptions& options, const std::string& name) {
  if (options.shape.height > 0) {
    if (pixel_count(options.shape) == pixels) return options.shape;
    return invalid(name + ": has " + std::to_string(pixels) + " pixels in a line, the shape given needs " +
                   std::to_string(pixel_count(options.shape)));
  }
  for (int channels : {1, 3}) {
    if (pixels % size_t(channels) != 0) continue;
    const int side = int(std::lround(std::sqrt(double(pixels / size_t(channels)))));
    if (side > 0 && size_t(side) * size_t(side) * size_t(channels) == pixels)
      return InputShape{side, side, channels};
  }
  return invalid(name + ": " + std::to_string(pixels) + " pixels in a line make no square image")
      .with_hint("give the shape");
}

// Labels become classes: numbers in numeric order, other texts alphabetically.
std::vector<std::string> sorted_classes(const std::vector<std::string>& labels) {
  std::set<std::string> distinct(labels.begin(), labels.end());
  std::vector<std::string> names(distinct.begin(), distinct.end());
  int ignored = 0;
  if (std::all_of(names.begin(), names.end(), [&](const auto& n) { return parse_number(n, ignored); })) {
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      int x = 0, y = 0;
      parse_number(a, x);
      parse_number(b, y);
      return x != y ? x < y : a < b;
    });
  }
  return names;
}

class Parser {
 public:
  Parser(const std::string& name, const ReaderOptions& options) : name_(name), options_(options) {}

  Status line(std::string_view text) {
    ++number_;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    line_.split(text);
    const auto& fields = line_.fields();
    if (width_ == 0) {
      width_ = fields.size();
      int ignored;
      if (!parse_number(fields[0], ignored)) return header();
    }
    if (fields.size() != width_) {
      return corrupt("has " + std::to_string(fields.size()) + " fields, the first line has " +
                     std::to_string(width_));
    }
    return columns_.file >= 0 ? file_line() : pixel_line();
  }

  Result<DatasetPtr> finish() {
    if (columns_.file >= 0) return finish_files();
    if (labels_.empty()) return Status(Code::Corrupt, name_ + ": holds no image");
    auto shape = shape_of(width_ - 1, options_, name_);
    if (!shape.ok()) return shape.status();
    const int classes = *std::max_element(labels_.begin(), labels_.end()) + 1;
    return DatasetPtr(std::make_shared<MemoryDataset>(*shape, std::max(classes, 2),
                                                      std::vector<std::string>{}, std::move(pixels_),
                                                      std::move(labels_), std::move(report_), name_));
  }

 private:
  Status header() {
    columns_ = csv_columns(line_.fields());
    if (columns_.label >= 0) label_column_ = size_t(columns_.label);
    if (columns_.file >= 0 && columns_.label < 0)
      return invalid(name_ + ": its header has a column for files and none named label");
    return {};
  }

  Status file_line() {
    const std::string file(line_.fields()[size_t(columns_.file)]);
    const std::string label(line_.fields()[label_column_]);
    if (!stays_below(file)) return corrupt("\"" + file + "\" is not a file below the CSV's folder");
    if (!is_image_name(file)) return corrupt("\"" + file + "\" is neither a .jpg, .jpeg nor a .png");
    if (label.empty()) return corrupt("has no label");
    images_.files.push_back({file, 0});
    texts_.push_back(label);
    return {};
  }

  Status pixel_line() {
    const size_t before = pixels_.size();
    if (before + width_ > kLargest)
      return {Code::Quota, name_ + ": holds more than " + std::to_string(kLargest >> 30) + " GiB of pixels"};
    int label = 0;
    for (size_t f = 0; f < width_; ++f) {
      int v = 0;
      const bool is_label = f == label_column_;
      const std::string_view field = line_.fields()[f];
      if (!parse_number(field, v) || v < 0 || v > (is_label ? kMostClasses : 255)) {
        pixels_.resize(before);
        return corrupt("field " + std::to_string(f + 1) + ": \"" + shorten(field, 20) + "\" is not a " +
                       (is_label ? "label" : "number 0..255"));
      }
      if (is_label)
        label = v;
      else
        pixels_.push_back(uint8_t(v));
    }
    labels_.push_back(label);
    return {};
  }

  Result<DatasetPtr> finish_files() {
    if (images_.files.empty()) return Status(Code::Corrupt, name_ + ": names no image");
    const std::filesystem::path folder = std::filesystem::path(name_).parent_path();
    images_.root = folder.empty() ? "." : folder.string();
    images_.classes = sorted_classes(texts_);
    std::map<std::string, int32_t> numbers;
    for (const auto& name : images_.classes) numbers.emplace(name, int32_t(numbers.size()));
    for (size_t i = 0; i < texts_.size(); ++i) images_.files[i].label = numbers[texts_[i]];
    return make_image_dataset(std::move(images_), options_.shape);
  }

  Status corrupt(const std::string& what) {
    std::string problem = name_ + ":" + std::to_string(number_) + ": " + what;
    if (!options_.skip_corrupt) return {Code::Corrupt, std::move(problem)};
    report_.skip(std::move(problem));
    return {};
  }

  const std::string& name_;
  const ReaderOptions& options_;
  CsvLine line_;
  CsvColumns columns_;
  std::vector<uint8_t> pixels_;
  std::vector<int32_t> labels_;
  ImageFiles images_;               // of a CSV that names files
  std::vector<std::string> texts_;  // their labels
  ReadReport report_;
  size_t number_ = 0, width_ = 0, label_column_ = 0;
};

}  // namespace

Result<DatasetPtr> parse_csv(std::string_view text, const std::string& name, const ReaderOptions& options) {
  Parser parser(name, options);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (Status s = parser.line(text.substr(0, end)); !s.ok()) return s;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parser.finish();
}

std::string csv_file(const std::string& place, bool training) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(place, error)) return training ? place : "";
  const std::string part = place + (training ? "/train.csv" : "/test.csv");
  for (const char* end : {"", ".gz"})
    if (fs::exists(part + end, error)) return part + end;
  // A single file of any name is the training part.
  std::string only;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.') || !is_csv_name(name)) continue;
    if (!only.empty()) return "";
    only = it->path().string();
  }
  return training ? only : "";
}

Result<DatasetPtr> read_csv(const std::string& place, bool training, const ReaderOptions& options) {
  const std::string file = csv_file(place, training);
  if (file.empty())
    return Status(Code::NotFound, place + ": has no " + (training ? "train.csv" : "test.csv"));
  Parser parser(file, options);
  Status read = visit_lines(file, kLongestLine, [&](std::string_view line) { return parser.line(line); });
  if (!read.ok()) return read;
  return parser.finish();
}

}  // namespace radl::engine::data

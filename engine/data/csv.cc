#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

constexpr size_t kLargest = size_t{8} << 30;
constexpr int kMostClasses = 100000;

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"') s = s.substr(1, s.size() - 2);
  return s;
}

bool parse_number(std::string_view field, int& out) {
  field = trim(field);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), out);
  return error == std::errc() && end == field.data() + field.size();
}

// The fields of one line; numbers hold no commas, so quotes matter only around them.
void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (;;) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
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
  return invalid(name + ": " + std::to_string(pixels) + " pixels in a line make no square picture")
      .with_hint("give the shape");
}

class Parser {
 public:
  Parser(const std::string& name, const ReaderOptions& options) : name_(name), options_(options) {}

  Status line(std::string_view text) {
    ++number_;
    if (trim(text).empty()) return {};
    split(text, fields_);
    if (width_ == 0) {
      width_ = fields_.size();
      int ignored;
      if (!parse_number(fields_[0], ignored)) return header();
    }
    if (fields_.size() != width_) {
      return corrupt("has " + std::to_string(fields_.size()) + " fields, the first line has " +
                     std::to_string(width_));
    }
    const size_t before = pixels_.size();
    int label = 0;
    for (size_t f = 0; f < width_; ++f) {
      int v = 0;
      const bool is_label = f == label_column_;
      if (!parse_number(fields_[f], v) || v < 0 || v > (is_label ? kMostClasses : 255)) {
        pixels_.resize(before);
        return corrupt("field " + std::to_string(f + 1) + ": \"" +
                       std::string(trim(fields_[f]).substr(0, 20)) + "\" is not a " +
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

  Result<DatasetPtr> finish() {
    if (labels_.empty()) return Status(Code::Corrupt, name_ + ": holds no picture");
    auto shape = shape_of(width_ - 1, options_, name_);
    if (!shape.ok()) return shape.status();
    const int classes = *std::max_element(labels_.begin(), labels_.end()) + 1;
    return DatasetPtr(std::make_shared<MemoryDataset>(*shape, std::max(classes, 2),
                                                      std::vector<std::string>{}, std::move(pixels_),
                                                      std::move(labels_), std::move(report_), name_));
  }

 private:
  Status header() {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (trim(fields_[f]) == "label") label_column_ = f;
    }
    return {};
  }
  Status corrupt(const std::string& what) {
    std::string problem = name_ + ":" + std::to_string(number_) + ": " + what;
    if (!options_.skip_corrupt) return {Code::Corrupt, std::move(problem)};
    report_.skip(std::move(problem));
    return {};
  }

  const std::string& name_;
  const ReaderOptions& options_;
  std::vector<std::string_view> fields_;
  std::vector<uint8_t> pixels_;
  std::vector<int32_t> labels_;
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

Result<DatasetPtr> read_csv(const std::string& path, bool training, const ReaderOptions& options) {
  std::error_code ignored;
  std::string file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    file += training ? "/train.csv" : "/test.csv";
    if (!std::filesystem::exists(file, ignored) && std::filesystem::exists(file + ".gz", ignored))
      file += ".gz";
  }
  auto text = read_maybe_gzip(file, kLargest);
  if (!text.ok()) return text.status();
  return parse_csv(*text, file, options);
}

}  // namespace radl::engine::data

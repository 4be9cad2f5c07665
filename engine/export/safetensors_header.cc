#include "engine/export/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace radl::engine::exporter {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostTensors = 1 << 18, kMostMetadata = 4096, kMostDimensions = 64;
constexpr uint64_t kMostValues = uint64_t{1} << 40;

class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a boolean"); }
  bool number_float(number_float_t, const string_t&) override { return value("a number"); }
  bool binary(binary_t&) override { return value("binary data"); }
  bool number_integer(number_integer_t) override { return value("a negative number"); }
  bool number_unsigned(number_unsigned_t n) override {
    if (place_ != Place::Dimensions && place_ != Place::Offsets) return value("a number");
    if (place_ == Place::Offsets) return offsets_.push_back(n), offsets_.size() <= 2 || incomplete();
    SafetensorsEntry& e = out_.entries.back();
    if (n > kMostValues || (n != 0 && e.count > kMostValues / n)) return bad("shape is too large");
    if (e.shape.size() == kMostDimensions) return bad("shape has too many dimensions");
    e.count *= n;
    e.shape.push_back(int64_t(n));
    return true;
  }
  bool string(string_t& text) override {
    if (place_ == Place::Type) {
      out_.entries.back().type = std::move(text);
      has_type_ = true, place_ = Place::Tensor;
      return true;
    }
    if (place_ != Place::Metadata) return value("a string");
    if (out_.metadata.size() == kMostMetadata) return fail("__metadata__ has too many entries");
    if (!out_.metadata.emplace(metadata_key_, std::move(text)).second) return twice(metadata_key_);
    return true;
  }
  bool start_object(size_t) override {
    if (skipped_ > 0 || place_ == Place::Other) return ++skipped_, true;
    if (place_ == Place::Start) return place_ = Place::Top, true;
    if (place_ == Place::NewTensor) return place_ = Place::Tensor, true;
    if (place_ == Place::NewMetadata) return place_ = Place::Metadata, true;
    return value("an object");
  }
  bool end_object() override {
    if (skipped_ > 0) return end_skipped();
    if (place_ == Place::Tensor && !finish_tensor()) return false;
    place_ = place_ == Place::Top ? Place::End : Place::Top;
    return true;
  }
  bool start_array(size_t) override {
    if (skipped_ > 0 || place_ == Place::Other) return ++skipped_, true;
    if (place_ == Place::NewDimensions) return place_ = Place::Dimensions, true;
    if (place_ == Place::NewOffsets) return place_ = Place::Offsets, true;
    return value("an array");
  }
  bool end_array() override {
    if (skipped_ > 0) return end_skipped();
    (place_ == Place::Dimensions ? has_shape_ : has_offsets_) = true;
    place_ = Place::Tensor;
    return true;
  }
  bool key(string_t& name) override {
    if (skipped_ > 0) return true;
    if (place_ == Place::Top) return top_key(name);
    if (place_ == Place::Metadata) return metadata_key_ = std::move(name), true;
    const bool again = (name == "dtype" && has_type_) || (name == "shape" && has_shape_) ||
                       (name == "data_offsets" && has_offsets_);
    if (again) return twice(name);
    place_ = name == "dtype"          ? Place::Type
             : name == "shape"        ? Place::NewDimensions
             : name == "data_offsets" ? Place::NewOffsets
                                      : Place::Other;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    return fail(std::string("the header is not JSON: ") + e.what());
  }

  Result<SafetensorsHeader> result() && {
    if (!wrong_.empty()) return Status(Code::Corrupt, wrong_);
    std::vector<std::string_view> names;
    for (const auto& e : out_.entries) names.push_back(e.name);
    std::ranges::sort(names);
    if (const auto same = std::ranges::adjacent_find(names); same != names.end()) {
      twice(std::string(*same));
      return Status(Code::Corrupt, wrong_);
    }
    return std::move(out_);
  }

 private:
  // Where the next value belongs.
  enum class Place {
    Start,
    Top,
    NewTensor,
    Tensor,
    Type,
    NewDimensions,
    Dimensions,
    NewOffsets,
    Offsets,
    Other,  // a key that we do not know: skipped
    NewMetadata,
    Metadata,
    End
  };

  bool top_key(std::string& name) {
    if (name == "__metadata__") {
      if (std::exchange(has_metadata_, true)) return twice(name);
      return place_ = Place::NewMetadata, true;
    }
    if (out_.entries.size() == kMostTensors)
      return fail("more than " + std::to_string(kMostTensors) + " tensors");
    out_.entries.push_back({std::move(name)});
    has_type_ = has_shape_ = has_offsets_ = false;
    offsets_.clear();
    return place_ = Place::NewTensor, true;
  }
  bool finish_tensor() {
    if (!has_type_ || !has_shape_ || !has_offsets_ || offsets_.size() != 2) return incomplete();
    out_.entries.back().begin = offsets_[0], out_.entries.back().end = offsets_[1];
    return true;
  }
  bool end_skipped() {
    if (--skipped_ == 0) place_ = Place::Tensor;
    return true;
  }

  // A value of this kind, where another one belongs, or where none is looked at.
  bool value(const char* kind) {
    if (skipped_ > 0) return true;
    switch (place_) {
      case Place::Other:
        return place_ = Place::Tensor, true;
      case Place::Start:
        return fail("the header is not an object");
      case Place::NewMetadata:
        return fail("__metadata__ is not an object");
      case Place::Metadata:
        return fail("__metadata__ holds something that is not a string");
      case Place::Dimensions:
        return bad(std::string("shape holds ") + kind + ", which is not a size");
      case Place::Offsets:
        return bad(std::string("an offset is ") + kind + ", which is not a position");
      default:
        return incomplete();
    }
  }
  bool incomplete() { return bad("needs dtype, shape and two data_offsets"); }
  bool bad(const std::string& what) { return fail("tensor \"" + out_.entries.back().name + "\": " + what); }
  bool twice(const std::string& name) { return fail("key \"" + name + "\" occurs more than once"); }
  bool fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
    return false;
  }

  SafetensorsHeader out_;
  std::string wrong_, metadata_key_;
  Place place_ = Place::Start;
  size_t skipped_ = 0;  // depth within what is skipped
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
  std::vector<uint64_t> offsets_;
};

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(std::string_view text) {
  HeaderReader reader;
  Json::sax_parse(text, &reader);
  return std::move(reader).result();
}

}  // namespace radl::engine::exporter

#include "engine/serve/request_body.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "common/digest.h"

namespace radl::engine::serve {
namespace {

using Json = nlohmann::json;

// Reads the texts of "image" and "images" as they go by. No tree is made of the rest: a stranger's 30 MB
// would make one of a gigabyte.
class ImageReader : public nlohmann::json_sax<Json> {
 public:
  explicit ImageReader(size_t most) : most_(most) {}

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& text) override {
    if (!taken()) return true;
    auto bytes = base64_decode(text);
    add(bytes.ok() ? std::optional(std::move(*bytes)) : std::nullopt);
    return true;
  }
  bool start_object(size_t) override {
    other();
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(size_t) override {
    if (depth_ == 1 && field_ == Field::Images)
      in_list_ = true;
    else
      other();
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == 1) in_list_ = false;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1)
      field_ = name == "image" ? Field::Image : name == "images" ? Field::Images : Field::Other;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    json_ = false;
    return false;
  }

  Result<std::vector<std::string>> result() && {
    if (!json_) return invalid("the body is not JSON");
    auto& list = image_.empty() ? images_ : image_;
    const size_t count = image_.empty() ? count_ : image_.size();
    if (count == 0) return invalid("JSON needs \"image\" or \"images\": images as base64");
    if (count > most_)
      return Status(Code::Quota, std::to_string(count) + " images in one request, at most " +
                                     std::to_string(most_) + " are taken");
    std::vector<std::string> out;
    for (auto& image : list) {
      if (!image) return invalid("image " + std::to_string(out.size()) + ": not base64");
      out.push_back(std::move(*image));
    }
    return out;
  }

 private:
  enum class Field { Other, Image, Images };

  // Whether what comes now is an image's place: the value of "image", or an element of "images".
  bool taken() const {
    return (depth_ == 1 && field_ == Field::Image) || (depth_ == 2 && in_list_ && field_ == Field::Images);
  }
  // Something that is no text.
  bool other() {
    if (taken()) add(std::nullopt);
    return true;
  }
  void add(std::optional<std::string> image) {
    if (field_ == Field::Image) {
      image_.clear();
      image_.push_back(std::move(image));
    } else if (++count_ <= most_) {
      images_.push_back(std::move(image));
    }
  }

  const size_t most_;
  size_t depth_ = 0, count_ = 0;
  bool json_ = true, in_list_ = false;
  Field field_ = Field::Other;
  std::vector<std::optional<std::string>> image_, images_;  // nothing: no base64
};

}  // namespace

Result<std::vector<std::string>> images_in(std::string body, size_t most) {
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return invalid("the body is empty: send a PNG, a JPEG, or JSON");
  if (body[first] != '{') return std::vector<std::string>{std::move(body)};
  ImageReader reader(most);
  Json::sax_parse(body, &reader);
  return std::move(reader).result();
}

}  // namespace radl::engine::serve

#include "runtime/farm/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/digest.h"
#include "common/http/url.h"
#include "common/json_values.h"
#include "common/store_address.h"
#include "common/text.h"

namespace radl::farm {
namespace {

Result<Image> image_at(const std::string& line, size_t number) {
  auto url = http::parse_http_url(line, fmt::format("line {}", number));
  if (!url.ok()) return std::move(url).status();
  if (!url->user.empty() || !url->password.empty())
    return invalid(fmt::format("line {}: a URL with a user or password is not supported", number));
  Image image;
  image.file = http::printable_url(line);
  image.url = line;
  if (!url->query.empty()) image.file += fmt::format("#{}", number);
  return image;
}

Json json_of(const Image& image) {
  Json json = {{"file", image.file}};
  if (!image.url.empty()) json["url"] = image.url;
  if (!image.key.empty()) json["key"] = image.key;
  if (!image.etag.empty()) json["etag"] = image.etag;
  return json;
}

}  // namespace

bool is_image_store(const std::string& images) {
  return is_store_address(images) && images.find('\n') == images.npos;
}

Result<std::vector<Image>> parse_image_urls(const std::string& text) {
  std::vector<Image> images;
  std::set<std::string> urls;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line(trim(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    auto image = image_at(line, number);
    if (!image.ok()) return std::move(image).status().at("`images`");
    if (!urls.insert(line).second) return invalid(fmt::format("`images`: line {} is listed twice", number));
    images.push_back(std::move(*image));
  }
  if (images.empty()) return invalid("`images` is an empty list");
  return images;
}

Status check_images(const std::string& images) {
  if (is_image_store(images)) return parse_store_folder(images).status();
  return parse_image_urls(images).status();
}

Result<ImageRange> parse_image_range(const Json& range) {
  const bool two =
      range.is_array() && range.size() == 2 && range[0].is_number_unsigned() && range[1].is_number_unsigned();
  if (!two || range[0].get<size_t>() >= range[1].get<size_t>())
    return invalid("`images` of a task is not [first, end]: " + range.dump());
  return ImageRange{range[0].get<size_t>(), range[1].get<size_t>()};
}

std::span<const Image> images_in_range(const std::vector<Image>& images, const Json& range) {
  auto parsed = parse_image_range(range);
  if (!parsed.ok()) return {};
  const size_t first = std::min(parsed->first, images.size()), end = std::min(parsed->end, images.size());
  return std::span(images).subspan(first, end - first);
}

std::string digest_of_images(std::span<const Image> images) {
  std::string text;
  for (const Image& image : images)
    text += json_of(image).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return sha256_hex(text);
}

std::string without_signatures(const std::string& farm) {
  if (farm.find_first_of("?@") == farm.npos) return farm;
  Json json = json::parse_json(farm);
  const std::string images = json::text_of(json, kImages);
  if (images.empty() || is_image_store(images)) return farm;
  std::string shown;
  for (const std::string_view line : split(images, '\n')) {
    const std::string url(trim(line)), printable = http::printable_url(url);
    shown += printable;
    if (!printable.empty() && printable != url) shown += "?sha256=" + sha256_hex(url).substr(0, 16);
    shown += '\n';
  }
  json[kImages] = std::move(shown);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const std::vector<Image>& images) {
  std::string text;
  for (const Image& image : images)
    text += json_of(image).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return text;
}

std::vector<Image> images_from_text(const std::string& text) {
  std::vector<Image> images;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Json json = json::parse_json(text.substr(begin, end - begin));
    begin = end + 1;
    if (!json.is_object()) continue;
    images.push_back({json::text_of(json, "file"), json::text_of(json, "url"), json::text_of(json, "key"),
                      json::text_of(json, "etag")});
  }
  return images;
}

}  // namespace radl::farm

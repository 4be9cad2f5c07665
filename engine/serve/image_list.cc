#include "engine/serve/image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/transfer/side_by_side.h"

namespace radl::engine::serve {
namespace {

constexpr size_t kFetchedAtOnce = 8;

std::string text_in(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Google's stores name the version of an object apart from its ETag.
bool is_version(const http::Response& answer, const std::string& etag) {
  std::string_view tag = answer.header("etag");
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return tag == etag || answer.header("x-goog-generation") == etag;
}

Result<std::string> fetch_image(http::Client& http, const ListedImage& image, size_t largest,
                                const Stop& stop) {
  http::Request request;
  request.url = image.url;
  request.largest_answer = largest;
  request.stop = stop;
  auto answer = http.send(request, http::Retries{});
  if (!answer.ok()) {
    // The URL may be a secret, and `file` says which one it is.
    const Code code = answer.status().code();
    return Status(code,
                  image.file + (code == Code::Quota ? fmt::format(": is larger than {} bytes", largest)
                                                    : ": cannot be fetched: " + answer.status().message()));
  }
  if (!answer->ok())
    return Status(http::code_of_status(answer->status),
                  fmt::format("{}: its server answers {}", image.file, answer->status));
  if (!image.etag.empty() && !is_version(*answer, image.etag))
    return Status(Code::Corrupt, image.file + ": has changed since it was listed");
  return std::move(answer->body);
}

}  // namespace

Result<std::vector<ListedImage>> parse_image_list(std::string_view text) {
  std::vector<ListedImage> images;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto json = nlohmann::json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    ListedImage image;
    if (json.is_object()) image = {text_in(json, "file"), text_in(json, "url"), text_in(json, "etag")};
    if (image.file.empty() || !http::parse_http_url(image.url, "url").ok())
      return invalid(
          fmt::format("line {} of the list is not {{\"file\": NAME, \"url\": \"https://...\"}}", line));
    images.push_back(std::move(image));
  }
  return images;
}

Result<std::vector<std::string>> fetch_images(http::Client& http, std::span<const ListedImage> images,
                                              size_t largest, const Stop& stop) {
  std::vector<std::string> bytes(images.size());
  Status fetched =
      transfer::side_by_side(images.size(), kFetchedAtOnce, stop, [&](size_t i, const Stop& either) {
        auto one = fetch_image(http, images[i], largest, either);
        if (!one.ok()) return Status(one.status());
        bytes[i] = std::move(*one);
        return Status();
      });
  if (!fetched.ok()) return fetched;
  return bytes;
}

}  // namespace radl::engine::serve

#include "common/openstack/egi.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/http/url.h"
#include "common/openstack/values.h"
#include "common/text.h"

namespace radl::openstack {
namespace {

using Json = nlohmann::json;

constexpr const char* kServer = "https://is.cloud.egi.eu";
constexpr std::string_view kScheme = "egi://", kOldScheme = "appdb://";

Result<Json> ask(http::Client& http, const std::string& path, const std::string& what, const Stop& stop) {
  const std::string given = http.environment()("RADL_EGI_INFO");
  http::Request request;
  request.url = (given.empty() ? kServer : given) + path;
  request.headers = {{"Accept", "application/json"}};
  request.user_agent = "radlc (EGI information)";
  request.largest_answer = size_t{64} << 20;
  request.stop = stop;
  auto answer = http.send(request, http::Retries{});
  if (!answer.ok()) return Status(answer.status()).at("EGI's cloud information");
  if (answer->status == 404) return not_found("EGI's cloud information does not list " + what);
  if (!answer->ok()) return http::status_of(*answer, "EGI's cloud information");
  Json document = parse_json(answer->body);
  if (document.is_null()) return Status(Code::Corrupt, "EGI's cloud information: the response is not JSON");
  return document;
}

// AppDB's names are the last part of the image's page there, or its title.
bool is_called(const Json& image, const EgiImageUrl& wanted) {
  if (text_of(image, "egi_id") == wanted.name) return true;
  if (!wanted.of_appdb) return false;
  const std::string page = text_of(image, "mpuri");
  return equal_ignoring_case(text_of(image, "name"), wanted.name) ||
         page.find("/" + wanted.name + ":") != page.npos || page.ends_with("/" + wanted.name);
}

}  // namespace

Result<EgiSite> find_egi_site(http::Client& http, const std::string& site, const std::string& vo,
                              const Stop& stop) {
  const std::string base = "/site/" + http::percent_encode(site), named = fmt::format("site '{}'", site);
  auto summary = ask(http, base + "/", named, stop);
  if (!summary.ok()) return summary.status();
  EgiSite found{text_of(*summary, "url"), ""};
  if (found.url.empty()) return not_found(fmt::format("EGI's {} has no cloud endpoint", named));
  auto project = ask(http, fmt::format("{}/{}/project", base, http::percent_encode(vo)),
                     fmt::format("project of '{}' at {}", vo, named), stop);
  if (!project.ok()) return project.status();
  found.project_id = text_of(*project, "id");
  if (found.project_id.empty())
    return not_found(fmt::format("the virtual organisation '{}' has no project at EGI's {}", vo, named));
  return found;
}

bool is_egi_image(const std::string& url) { return url.starts_with(kScheme) || url.starts_with(kOldScheme); }

Result<EgiImageUrl> parse_egi_image(const std::string& url) {
  if (!is_egi_image(url)) return invalid(fmt::format("'{}' is not an egi:// or appdb:// URL", url));
  EgiImageUrl image;
  image.of_appdb = url.starts_with(kOldScheme);
  std::string rest = url.substr(image.of_appdb ? kOldScheme.size() : kScheme.size());
  if (const size_t question = rest.find('?'); question != rest.npos) {
    image.vo = rest.substr(question + 1);
    rest.resize(question);
  }
  const size_t slash = rest.find('/');
  if (slash != rest.npos) image.site = rest.substr(0, slash);
  if (slash != rest.npos || image.of_appdb) image.name = slash == rest.npos ? rest : rest.substr(slash + 1);
  if (image.name.empty())
    return invalid(fmt::format("'{}': must be {}", url,
                               image.of_appdb ? "appdb://SITE/NAME?VO" : "egi://SITE/PROJECT/IMAGE:TAG?VO"));
  return image;
}

Result<std::string> find_egi_image(http::Client& http, const EgiImageUrl& image, const Stop& stop) {
  const std::string site = "/site/" + http::percent_encode(image.site),
                    named = fmt::format("site '{}'", image.site);
  Result<Json> images = not_found("");
  if (!image.vo.empty())
    images = ask(http, fmt::format("{}/{}/images", site, http::percent_encode(image.vo)), named, stop);
  // Queries all organisations if the service does not find this one.
  if (images.status().code() == Code::NotFound) images = ask(http, site + "/images", named, stop);
  if (!images.ok()) return images.status();
  std::string found, version;
  for (const Json& one : images->is_array() ? *images : Json::array()) {
    const std::string vo = text_of(one, "vo");
    if (!image.vo.empty() && !vo.empty() && vo != image.vo) continue;
    if (!is_called(one, image) || (!found.empty() && text_of(one, "version") <= version)) continue;
    found = text_of(one, "id");
    version = text_of(one, "version");
  }
  if (found.empty())
    return not_found(fmt::format("EGI's site '{}' has no image '{}'{}", image.site, image.name,
                                 image.vo.empty() ? "" : " of " + image.vo));
  // "https://keystone.example.org:5000/v3#ID" of sites that publish their endpoint with it.
  return found.substr(found.rfind('#') + 1);
}

}  // namespace radl::openstack

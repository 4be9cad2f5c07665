// EGI's federated cloud: finds a site's Keystone, a virtual organisation's project there, and the site's
// copies of the images that EGI publishes. Source: EGI's cloud information API (https://is.cloud.egi.eu), its
// OpenAPI description at /docs.
#pragma once

#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::openstack {

struct EgiSite {
  std::string url;  // Keystone's URL
  std::string project_id;
};
// RADL_EGI_INFO overrides that API's server. NotFound: the site does not exist, or the organisation has no
// project there.
Result<EgiSite> find_egi_site(http::Client& http, const std::string& site, const std::string& vo,
                              const Stop& stop);

// EGI's image names "egi://SITE/PROJECT/IMAGE:TAG?VO", and AppDB's "appdb://SITE/NAME?VO" and
// "appdb://NAME?VO". Invalid: not such a URL.
bool is_egi_image(const std::string& url);
struct EgiImageUrl {
  std::string site, name, vo;  // vo may be empty; so may site in an AppDB name
  bool of_appdb = false;
};
Result<EgiImageUrl> parse_egi_image(const std::string& url);
// Glance ID of the newest version of the image that EGI calls `name`. NotFound: the site lacks it.
Result<std::string> find_egi_image(http::Client& http, const EgiImageUrl& image, const Stop& stop);

}  // namespace radl::openstack

// EGI's federated cloud: which Keystone a site has, and which project a virtual organisation has there; and
// the images that EGI publishes, as sites have them.
// Source: EGI's cloud information API (https://is.cloud.egi.eu), its OpenAPI description at /docs.
#pragma once

#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::openstack {

struct EgiSite {
  std::string url;  // Keystone's
  std::string project_id;
};
// RADL_EGI_INFO names another server of that API. NotFound: there is no such site, or the organisation has
// no project there.
Result<EgiSite> find_egi_site(http::Client& http, const std::string& site, const std::string& vo,
                              const Stop& stop);

// "egi://SITE/PROJECT/IMAGE:TAG?VO", as EGI names its images, and "appdb://SITE/NAME?VO" or
// "appdb://NAME?VO", as AppDB published them. Invalid: it is not such a URL.
bool is_egi_image(const std::string& url);
struct EgiImageUrl {
  std::string site, name, vo;  // vo may be empty, and AppDB's site
  bool of_appdb = false;
};
Result<EgiImageUrl> parse_egi_image(const std::string& url);
// The id in Glance of what EGI calls `name`, of the newest version. NotFound: the site has none.
Result<std::string> find_egi_image(http::Client& http, const EgiImageUrl& image, const Stop& stop);

}  // namespace radl::openstack

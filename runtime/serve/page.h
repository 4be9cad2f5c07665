// The service's web page below /ui/: files of share/radlc/page, and one document for all addresses of the
// page.
#pragma once

#include <map>
#include <string>

#include "runtime/serve/part.h"

namespace radl::serve {

class Page : public Part {
 public:
  // Reads the folder's files, which are few and small. Without the folder, each request reports that the page
  // is missing.
  explicit Page(const std::string& folder);
  // Also takes "/", for browsers.
  bool takes(const httpd::RequestHead& head) const override;
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;
  bool missing() const { return !files_.contains("index.html"); }

 private:
  struct File {
    std::string bytes, gzip, type, tag;  // gzip: "" if the build has none
  };
  httpd::Answer answer(const File& file, const httpd::RequestHead& head) const;
  std::map<std::string, File> files_;  // by name
};

}  // namespace radl::serve

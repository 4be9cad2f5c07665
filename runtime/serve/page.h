// The page of the service, below /ui/: files of share/radlc/page, and one document for all addresses of the
// page.
#pragma once

#include <map>
#include <string>

#include "runtime/serve/part.h"

namespace radl::serve {

class Page : public Part {
 public:
  // Reads the folder's files, which are few and small. A folder that does not exist is a page that is
  // missing: each request is told so.
  explicit Page(const std::string& folder);
  // Also "/", for a browser.
  bool takes(const httpd::RequestHead& head) const override;
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;
  bool missing() const { return !files_.contains("index.html"); }

 private:
  struct File {
    std::string bytes, gzip, type, tag;  // gzip: "" if the build made none
  };
  httpd::Answer answer(const File& file, const httpd::RequestHead& head) const;
  std::map<std::string, File> files_;  // by name
};

}  // namespace radl::serve

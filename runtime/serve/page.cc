#include "runtime/serve/page.h"

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/page_theme.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr std::string_view kFolder = "/ui/", kStatic = "/ui/static/";
constexpr size_t kLargestPage = size_t{4} << 20;
// Nothing but the service's own files; no script and no style in the document.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

std::string type_of(const std::string& name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js") || name.ends_with(".mjs")) return "text/javascript; charset=utf-8";
  return "text/plain; charset=utf-8";
}

std::string tag_of(const std::string& bytes) { return "\"" + sha256_hex(bytes).substr(0, 20) + "\""; }

bool wants_page(const httpd::RequestHead& head) {
  return head.header("accept").value_or("").find("text/html") != std::string_view::npos;
}

}  // namespace

Page::Page(const std::string& folder) {
  const std::string theme(page_theme());
  files_["theme.css"] = {theme, "", type_of("theme.css"), tag_of(theme)};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.ends_with(".gz")) continue;
    auto bytes = read_file(entry.path(), kLargestPage);
    if (!bytes.ok()) continue;
    auto gzip = read_file(entry.path().string() + ".gz", kLargestPage);
    files_[name] = {*bytes, gzip.ok() ? *gzip : "", type_of(name), tag_of(*bytes)};
  }
}

bool Page::takes(const httpd::RequestHead& head) const {
  if (head.path == "/") return head.method == "GET" && wants_page(head);
  return head.path.starts_with(kFolder) || head.path == "/ui";
}

Answer Page::answer(const File& file, const httpd::RequestHead& head) const {
  Answer answer{.type = file.type};
  answer.headers = {{"Content-Security-Policy", kPolicy},
                    {"Cache-Control", "no-cache"},
                    {"ETag", file.tag},
                    {"Referrer-Policy", "no-referrer"}};
  if (head.header("if-none-match").value_or("") == file.tag) {
    answer.status = 304;
    return answer;
  }
  const bool packed = !file.gzip.empty() &&
                      head.header("accept-encoding").value_or("").find("gzip") != std::string_view::npos;
  answer.body = packed ? file.gzip : file.bytes;
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  if (packed) answer.headers.emplace_back("Content-Encoding", "gzip");
  return answer;
}

Begun Page::begin(const httpd::RequestHead& head, const Caller&) {
  if (head.method != "GET" && head.method != "HEAD") {
    Answer answer{.status = 405, .body = "Method Not Allowed", .type = "text/plain"};
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (!head.path.starts_with(kFolder)) {
    Answer answer{.status = 303, .type = "text/plain"};
    answer.headers.emplace_back("Location", std::string(kFolder));
    return answer;
  }
  if (missing())
    return Answer{
        .status = 503,
        .body =
            "This radlc was built without its page, because npm or its registry could not be reached "
            "then.\nThe APIs work: see docs/service.md.\n",
        .type = "text/plain; charset=utf-8"};
  const bool file = head.path.starts_with(kStatic);
  const auto found = files_.find(file ? head.path.substr(kStatic.size()) : "index.html");
  if (found == files_.end()) return Answer{.status = 404, .body = "Not Found", .type = "text/plain"};
  return answer(found->second, head);
}

}  // namespace radl::serve

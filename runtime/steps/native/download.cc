// download: a file that the node fetches itself.
#include <fmt/format.h>

#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

// Fetches $u to $t until its SHA-256 is $w, with any available tool. Resumes interrupted attempts while they
// make progress, starts over if the existing part does not match, and fails immediately if the server does
// not have the file.
constexpr const char* kFetch = R"sh(
fetch() {
if command -v curl >/dev/null; then
  curl -gfsSL --connect-timeout 20 --speed-limit 1 --speed-time 60 -C - -o "$t" "$u"
elif command -v wget >/dev/null; then
  wget -nv --timeout=60 --tries=1 -c -O "$t" "$u"
elif command -v python3 >/dev/null; then
  python3 - "$u" "$t" <<'RADL_FETCH'
import errno, os, shutil, sys, urllib.request
url, path = sys.argv[1:]
have = os.path.getsize(path) if os.path.exists(path) else 0
request = urllib.request.Request(url, headers={"Range": "bytes=%d-" % have} if have else {})
try:
    answer = urllib.request.urlopen(request, timeout=60)
    with open(path, "ab" if getattr(answer, "status", 200) == 206 else "wb") as out:
        shutil.copyfileobj(answer, out)
except urllib.error.HTTPError as error:
    print("%s: %s" % (url, error), file=sys.stderr)
    sys.exit(22)
except OSError as error:
    print("%s: %s" % (url, error), file=sys.stderr)
    sys.exit(74 if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else 1)
RADL_FETCH
else
  echo 'the node has neither curl, wget nor python3 to download with' >&2; exit 1
fi
}
size() { if [ -f "$t" ]; then wc -c < "$t"; else echo 0; fi; }
digest() { d=$(sha256sum < "$t"); d=${d%% *}; }
tries=3
while :; do
  had=$(size)
  if [ "$had" -gt 0 ]; then digest; [ "$d" != "$w" ] || break; fi
  r=0; fetch || r=$?
  if [ $r = 0 ]; then
    digest
    [ "$d" != "$w" ] || break
    rm -f "$t"
    [ "$had" -gt 0 ] || fail "the content has SHA-256 $d, not $w"
  else
    now=$(size)
    # A part that cannot be written on would only keep the disk full. curl's 23, wget's 3, our 74.
    case $r in 3|23|74) rm -f "$t"; exit $r;; esac
    if [ "$now" -le "$had" ]; then
      tries=$((tries - 1))
      case $r in 8|22|33) [ "$had" -gt 0 ] || exit $r; rm -f "$t";; esac
      [ $tries -gt 0 ] || exit $r
    fi
  fi
  sleep 0.5 2>/dev/null || sleep 1
done
)sh";

class DownloadKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }

  Result<std::string> look(const Item& item) const override {
    std::string path = shell_path(item.resource->name);
    return fmt::format("say_path {0}\nif [ -f {0} ]; then say_digest {0}; fi\n", path);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = said(seen, "kind"),
                wanted = to_lower(item.text("sha256"));
    if (kind == "hidden") return hidden(item, facts);
    if (kind == "directory") return invalid(item.label() + ": there is a folder of this name on the node");
    work.deadline = std::chrono::milliseconds(static_cast<long long>(item.number("timeout", 1800) * 1000));
    if (said(seen, "sha256") == wanted) {
      plan_access(item, seen, item.text("mode", "0644"), path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    Json was = said(seen, "sha256").empty() ? Json() : Json(short_digest(said(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(wanted) + " from " + item.text("url")));
    work.script = make_parent(item.resource->name) +
                  fmt::format("t={}.radl-{}.part\nu={}\nw={}\n", path, shell_quote(wanted.substr(0, 16)),
                              shell_quote(item.text("url")), shell_quote(wanted)) +
                  kFetch;
    Work access;
    plan_access(item, seen, item.text("mode", "0644"), "\"$t\"", access, kind == "file" && facts.root());
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script += access.script + replace_file(item.resource->name);
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_download_kind() { return std::make_unique<DownloadKind>(); }

}  // namespace radl::native

#include "runtime/steps/jobs/notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/shell_quote.h"

namespace radl::jobs {
namespace {

constexpr std::string_view kAnswer = "notice ", kCannot = "notices-cannot";

// ask METHOD URL [-H 'NAME: VALUE']...: the answer and, in a line of its own, its status; past any proxy. The
// answer is joined to one line: in JSON a line's end is a space. Nothing that is left behind when the loop is
// ended holds the stream open that its lines go to.
constexpr const char* kAsk = R"sh(exec 3>&2 2> /dev/null
by_python='
import sys, urllib.request as u
q = u.Request(sys.argv[2], method=sys.argv[1], headers=dict(h.split(": ", 1) for h in sys.argv[4::2]))
try:
    a = u.build_opener(u.ProxyHandler({})).open(q, timeout=5)
except u.HTTPError as e:
    a = e
sys.stdout.write(a.read(65536).decode("utf-8", "replace") + "\n" + str(a.getcode()))
'
if command -v curl > /dev/null 2>&1; then
  ask() {
    method=$1
    shift
    curl -s -m 5 --connect-timeout 2 --noproxy '*' -X "$method" -w '\n%{http_code}' "$@"
  }
elif command -v python3 > /dev/null 2>&1; then
  ask() { python3 -c "$by_python" "$@"; }
else
  ask() { return 1; }
  echo notices-cannot >&3
  exit 0
fi
cr=$(printf '\r')
)sh";

std::string words(const std::map<std::string, std::string>& headers) {
  std::string words;
  for (const auto& [name, value] : headers) words += " -H " + shell_quote(name + ": " + value);
  return words;
}

}  // namespace

std::string notice_script(const NoticeSpec& spec) {
  if (!spec.given()) return {};
  const int every = std::clamp(static_cast<int>(std::ceil(spec.every_seconds)), 1, 3600);
  std::string session, header;
  if (!spec.session_url.empty()) {
    session = fmt::format(R"sh(
  if [ -z "$session" ]; then
    said=$(exec 3>&-; ask PUT {}{})
    [ "${{said##*$nl}}" != 200 ] || session=${{said%$nl*}}
    session=${{session%$cr}}
  fi)sh",
                          shell_quote(spec.session_url), words(spec.session_headers));
    header = fmt::format(" -H {}\"$session\"", shell_quote(spec.session_header + ": "));
  }
  return std::string(kAsk) + fmt::format(R"sh(nl='
'
session= last= pause={0}
while kill -0 $$; do{1}
  said=$(exec 3>&-; ask GET {2}{3}{4})
  status=${{said##*$nl}}
  case $status in
    [1-9]*) pause={0} ;;
    *) pause=$((pause < 30 ? pause * 2 : 60)) ;;
  esac
  if [ "$status" = 401 ]; then session=; fi
  if [ "$status" = 200 ] && [ "$said" != "$last" ]; then
    last=$said
    printf '{5}%s\n' "$(printf %s "${{said%$nl*}}" | tr '\r\n' '  ')" >&3
  fi
  sleep "$pause" 3>&-
done
)sh",
                                         every, session, shell_quote(spec.url), words(spec.headers), header,
                                         kAnswer);
}

std::optional<NoticeLine> read_notice(std::string_view line) {
  if (line == kCannot) return NoticeLine{true, {}};
  if (!line.starts_with(kAnswer)) return std::nullopt;
  return NoticeLine{false, std::string(line.substr(kAnswer.size()))};
}

}  // namespace radl::jobs

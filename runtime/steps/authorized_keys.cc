#include "runtime/steps/authorized_keys.h"

#include <fmt/format.h>

#include "common/shell_quote.h"

namespace radl {

std::string edit_authorized_keys(const std::string& mark, const std::string& added,
                                 const std::string& stale) {
  return fmt::format(R"sh(set -e
umask 077
mkdir -p ~/.ssh
exec 9< ~/.ssh
flock 9 2>/dev/null || :
keys=$(readlink -f ~/.ssh/authorized_keys)
[ -e "$keys" ] || : > "$keys"
cp -p "$keys" "$keys.radlc"
sed -e '/ radlc-{}$/d' -e {} "$keys" > "$keys.radlc"
{}mv "$keys.radlc" "$keys"
)sh",
                     mark, shell_quote(stale),
                     added.empty() ? "" : fmt::format("echo {} >> \"$keys.radlc\"\n", shell_quote(added)));
}

}  // namespace radl

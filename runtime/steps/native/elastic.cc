// elastic: the place on a node where a scheduler says which nodes it wants (`radlc autoscale` reads it).
#include <fmt/format.h>

#include "common/digest.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

// Of each node the last wish is kept until it is fulfilled, not each request: what is doubled, or read late,
// does no harm.
constexpr std::string_view kRequest = R"sh(#!/bin/sh
# request add|remove ORDINAL...: says which nodes are wanted, and which no more. `radlc autoscale` reads the file
# `wishes` ("ORDINAL add" a line) and takes out what it has done. "renew": a node that was to go is wanted again, anew.
set -e
cd "$(dirname "$0")"
case $1 in add|remove) ;; *) echo "request add|remove ORDINAL..." >&2; exit 2;; esac
what=$1
shift
for n; do
  case $n in ''|*[!0-9]*) echo "request: '$n' is not an ordinal" >&2; exit 2;; esac
done
exec 9>> lock
flock 9
# Whoever reads them may be another user.
[ -e wishes ] || : > wishes
for n; do
  now=$what
  if [ "$what" = add ] && grep -qxE "$n (remove|renew)" wishes; then now=renew; fi
  grep -v "^$n " wishes > wishes.new || [ $? = 1 ]
  echo "$n $now" >> wishes.new
  mv wishes.new wishes
done
)sh";

class ElasticKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {script(item)}; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "-_."); !s.ok()) return s;
    return fmt::format("say_path {0}\nif [ -f {0} ]; then say_digest {0}; fi\n", shell_path(script(item)));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    if (said(seen, "kind") == "hidden") return hidden(item, facts);
    if (said(seen, "kind") != "file" || said(seen, "sha256") != sha256_hex(kRequest))
      work.changes.push_back(change(item, "request", nullptr, script(item)));
    Work access;
    plan_access(item, seen, "0755", "\"$d\" \"$t\"", access);
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    if (work.changes.empty()) return work;
    work.script = fmt::format("d={0}\nmkdir -p \"$d\"\nbegin_file {1}\n", shell_path(folder(item)),
                              shell_path(script(item))) +
                  write_bytes(std::string(kRequest), "\"$t\"") + access.script + replace_file(script(item));
    return work;
  }

 private:
  static std::string folder(const Item& item) {
    return item.text("directory", "~/.radl/elastic") + "/" + item.resource->name;
  }
  static std::string script(const Item& item) { return folder(item) + "/request"; }
};

}  // namespace

std::unique_ptr<Kind> make_elastic_kind() { return std::make_unique<ElasticKind>(); }

}  // namespace radl::native

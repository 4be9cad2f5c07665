// What the definitions of providers have in common (runtime/clouds/provider.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/auth/auth_file.h"
#include "runtime/auth/cloud_account.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"

namespace radl {

// Lines of the provider's types, in the file's order; none without a file.
std::vector<const AuthLine*> lines_of(const AuthFile* auth, const CloudProvider& provider);
// The line of an account, by its id; "": the first one. Invalid: the file has none.
Result<const AuthLine*> line_of(const AuthFile& auth, const CloudProvider& provider,
                                const std::string& account);

// The family under the provider's type and under the ids of its lines.
void add_with_accounts(const CloudSetup& setup, const CloudProvider& provider,
                       std::unique_ptr<CloudFamily> family, CloudSet& clouds);

// `options` with the settings of the auth file if that has lines of the provider; `read`: the settings of a
// line, which does not say Options::places.
template <class Options, class Read>
Result<Options> with_lines(Result<Options> options, const std::shared_ptr<const AuthFile>& auth,
                           const CloudProvider& provider, Read read) {
  if (!options.ok() || lines_of(auth.get(), provider).empty()) return options;
  using Settings = decltype(options->settings(std::string()));
  options->settings = [auth, &provider, read,
                       places = options->places](const std::string& account) -> Settings {
    auto line = line_of(*auth, provider, account);
    return line.ok() ? read(*auth, **line, places) : Settings(line.status());
  };
  return options;
}

// `settings` not ok: the entry shows why.
template <class Settings>
CredentialEntry credential_entry(const std::string& name, const CloudProvider& provider,
                                 Result<Settings> settings,
                                 CloudAccount (*check)(http::Client&, const Settings&, const Stop&)) {
  return {name, [&provider, settings = std::move(settings), check](http::Client& http, const Stop& stop) {
            if (settings.ok()) return check(http, *settings, stop);
            return CloudAccount{.cloud = provider.type, .status = settings.status()};
          }};
}

}  // namespace radl

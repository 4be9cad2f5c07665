#include "runtime/clouds/provider.h"

#include <algorithm>
#include <iterator>

#include "common/text.h"
#include "runtime/clouds/provider_parts.h"

namespace radl {

namespace {

bool takes_line(const CloudProvider& provider, const AuthLine& line) {
  return std::ranges::find(provider.auth_types, line.type) != provider.auth_types.end();
}

}  // namespace

const CloudProvider* find_provider(const CloudProviders& providers, const std::string& type) {
  for (const CloudProvider* provider : providers)
    if (provider->type == type) return provider;
  return nullptr;
}

std::vector<std::string> types_of(const CloudProviders& providers) {
  std::vector<std::string> types;
  for (const CloudProvider* provider : providers) types.push_back(provider->type);
  return types;
}

Result<std::vector<CredentialEntry>> find_credentials(const CloudProviders& providers,
                                                      const CredentialSearch& search) {
  std::vector<CredentialEntry> entries;
  std::vector<std::string> types;
  for (const CloudProvider* provider : providers) {
    if (provider->credentials == nullptr) continue;
    auto found = provider->credentials(search);
    if (!found.ok()) return found;
    std::ranges::move(*found, std::back_inserter(entries));
    types.insert(types.end(), provider->auth_types.begin(), provider->auth_types.end());
  }
  if (entries.empty() && search.auth != nullptr)
    return not_found(search.auth->path + ": holds no credential of the types " + join(types, ", "));
  return entries;
}

Status check_untrusted_line(const CloudProviders& providers, const AuthFile& file, const AuthLine& line) {
  for (const CloudProvider* provider : providers)
    if (provider->check_untrusted != nullptr && takes_line(*provider, line))
      return provider->check_untrusted(file, line);
  return check_addresses(line);
}

std::vector<const AuthLine*> lines_of(const AuthFile* auth, const CloudProvider& provider) {
  std::vector<const AuthLine*> lines;
  if (auth == nullptr) return lines;
  for (const AuthLine& line : auth->lines)
    if (takes_line(provider, line)) lines.push_back(&line);
  return lines;
}

Result<const AuthLine*> line_of(const AuthFile& auth, const CloudProvider& provider,
                                const std::string& account) {
  for (const AuthLine* line : lines_of(&auth, provider))
    if (account.empty() || line->id == account) return line;
  return invalid(auth.path + " has no line of type " + provider.auth_types.front() + " with the id '" +
                 account + "'");
}

void add_with_accounts(const CloudSetup& setup, const CloudProvider& provider,
                       std::unique_ptr<CloudFamily> made, CloudSet& clouds) {
  CloudFamily& family = clouds.keep(std::move(made));
  clouds.add(family);
  for (const AuthLine* line : lines_of(setup.auth.get(), provider)) clouds.add_account(line->id, family);
}

}  // namespace radl

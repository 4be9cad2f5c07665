#include "engine/cluster/party.h"

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

Result<std::unique_ptr<Party>> Party::join(const PartyOptions& options) {
  auto party = std::make_unique<LinkedParty>(options);
  if (Status begun = party->begin(); !begun.ok()) return begun;
  return std::unique_ptr<Party>(std::move(party));
}

}  // namespace radl::engine::cluster

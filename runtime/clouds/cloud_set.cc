#include "runtime/clouds/cloud_set.h"

#include "runtime/clouds/elsewhere.h"

namespace radl {

void CloudSet::add(Cloud& cloud) {
  by_id[cloud.id().text()] = &cloud;
  by_name.emplace(cloud.id().type, cloud.id().text());
}

void CloudSet::add(CloudFamily& family) {
  families_[family.type()] = &family;
  accounts_[family.type()] = {&family, ""};
}

void CloudSet::add_account(const std::string& name, CloudFamily& family) {
  accounts_[name] = {&family, name};
}

std::string CloudSet::id_for(const ir::Node& node) const {
  const std::string& name = node.cloud.empty() ? fallback : node.cloud;
  if (auto known = by_name.find(name); known != by_name.end()) return known->second;
  auto account = accounts_.find(name);
  if (account == accounts_.end()) return name;
  const CloudFamily& family = *account->second.family;
  return CloudId{family.type(), account->second.account, family.region_for(node)}.text();
}

Cloud* CloudSet::find(const std::string& id) const {
  if (auto known = by_id.find(id); known != by_id.end()) return known->second;
  std::lock_guard guard(made_->mutex);
  if (auto made = made_->clouds.find(id); made != made_->clouds.end()) return made->second.get();
  Result<CloudId> parsed = CloudId::parse(id);
  if (!parsed.ok()) return nullptr;
  auto family = families_.find(parsed->type);
  if (family == families_.end()) return nullptr;
  Result<std::unique_ptr<Cloud>> cloud = family->second->make(*parsed);
  if (!cloud.ok()) {
    made_->refused.insert_or_assign(id, cloud.status());
    return nullptr;
  }
  return made_->clouds.emplace(id, std::move(*cloud)).first->second.get();
}

Status CloudSet::why_not(const std::string& id) const {
  std::lock_guard guard(made_->mutex);
  if (auto refused = made_->refused.find(id); refused != made_->refused.end()) return refused->second;
  const std::string_view elsewhere = cloud_elsewhere(id);
  return Status(Code::Unsupported,
                "there is no cloud '" + id + "'" +
                    (elsewhere.empty() ? "" : ": " + std::string(elsewhere) + " is not among radlc's"))
      .with_hint(elsewhere.empty() ? "" : clouds_there_are());
}

bool CloudSet::knows(const std::string& name) const {
  return by_id.count(name) || by_name.count(name) || accounts_.count(name);
}

std::vector<std::string> CloudSet::names() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : by_name) names.push_back(name);
  for (const auto& [name, account] : accounts_) names.push_back(name);
  return names;
}

std::vector<std::string> CloudSet::ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, cloud] : by_id) ids.push_back(id);
  std::lock_guard guard(made_->mutex);
  for (const auto& [id, cloud] : made_->clouds) ids.push_back(id);
  return ids;
}

}  // namespace radl

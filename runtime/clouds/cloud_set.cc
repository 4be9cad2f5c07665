#include "runtime/clouds/cloud_set.h"

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/elsewhere.h"
#include "runtime/clouds/fitting.h"

namespace radl {

namespace {

// The addresses in a requirement's value: one, or a list.
std::vector<std::string> addresses(const ir::Requirement& requirement) {
  std::vector<std::string> all;
  if (!requirement.equals) return all;
  const ir::Json& value = *requirement.equals;
  if (value.is_string()) return {value.get<std::string>()};
  for (size_t i = 0; value.is_array() && i < value.size(); ++i)
    if (value[i].is_string()) all.push_back(value[i].get<std::string>());
  return all;
}

}  // namespace

void CloudSet::add(Cloud& cloud) {
  by_id[cloud.id().text()] = &cloud;
  by_name.emplace(cloud.id().type, cloud.id().text());
  for (const std::string& scheme : cloud.image_schemes()) by_scheme_.emplace(scheme, cloud.id().type);
}

void CloudSet::add(CloudFamily& family) {
  families_[family.type()] = &family;
  accounts_[family.type()] = {&family, ""};
  for (const std::string& scheme : family.image_schemes()) by_scheme_.emplace(scheme, family.type());
}

void CloudSet::add_account(const std::string& name, CloudFamily& family) {
  accounts_[name] = {&family, name};
}

std::string CloudSet::name_of_image(const std::string& url) const {
  const size_t end = url.find("://");
  const auto known = end == url.npos ? by_scheme_.end() : by_scheme_.find(to_lower(url.substr(0, end)));
  if (known == by_scheme_.end()) return {};
  const std::string& type = known->second;
  const auto first = accounts_.find(type);
  if (first == accounts_.end() || first->second.family->serves_image(first->second.account, url)) return type;
  for (const auto& [name, account] : accounts_)
    if (account.family->type() == type && account.family->serves_image(account.account, url)) return name;
  return type;
}

std::string CloudSet::imaged(const std::vector<std::string>& image_urls) const {
  std::vector<std::string> names;
  for (const std::string& url : image_urls)
    if (std::string name = name_of_image(url); !name.empty()) names.push_back(std::move(name));
  if (names.empty()) return {};
  if (std::all_of(names.begin(), names.end(), [&](const std::string& name) { return name == names.front(); }))
    return names.front();
  for (const std::string& name : names) {
    const auto account = accounts_.find(name);
    if (account == accounts_.end() || account->second.family->has_credentials(account->second.account))
      return name;
  }
  return names.front();
}

CloudSet::Place CloudSet::place_for(const ir::Node& node) const {
  if (!node.cloud.empty()) return {node.cloud, {}};
  if (!asked.empty()) return {asked, {}};
  if (std::string name = imaged(image_urls(node)); !name.empty()) return {std::move(name), {}};
  for (const ir::Soft& soft : node.softs) {
    const auto image = soft.requirements.find("disk.0.image.url");
    if (image == soft.requirements.end()) continue;
    std::vector<std::string> urls = addresses(image->second);
    if (std::string name = imaged(urls); !name.empty()) return {std::move(name), std::move(urls)};
  }
  return {fallback, {}};
}

std::vector<std::string> CloudSet::with_credentials() const {
  std::vector<std::string> names;
  for (const auto& [name, account] : accounts_)
    if (account.family->has_credentials(account.account)) names.push_back(name);
  return names;
}

std::string CloudSet::id_for(const ir::Node& node) const {
  const auto [name, soft_images] = place_for(node);
  if (auto known = by_name.find(name); known != by_name.end()) return known->second;
  auto account = accounts_.find(name);
  if (account == accounts_.end()) return name;
  const CloudFamily& family = *account->second.family;
  std::string region = family.region_for(node);
  if (!soft_images.empty()) {
    ir::Node imaged = node;
    if (imaged.disks.empty()) imaged.disks.emplace_back();
    imaged.disks.front().image_urls = soft_images;
    region = family.region_for(imaged);
  }
  return CloudId{family.type(), account->second.account, std::move(region)}.text();
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
  const std::string meant = elsewhere.empty() ? meant_by(id) : "";
  return Status(Code::Unsupported,
                "unknown cloud '" + id + "'" +
                    (elsewhere.empty() ? "" : ": " + std::string(elsewhere) + " is not supported"))
      .with_hint(meant.empty() ? supported_clouds(names()) : "did you mean " + meant + "?");
}

std::string CloudSet::meant_by(const std::string& name) const {
  const auto called = other_names.find(to_lower(name));
  return called != other_names.end() && knows(called->second) ? called->second : nearest(name, names());
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

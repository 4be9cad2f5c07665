// The clouds that this run may use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

// All clouds of one type: one for each account and region, made when it is first asked for.
class CloudFamily {
 public:
  virtual ~CloudFamily() = default;
  virtual const std::string& type() const = 0;
  // What the addresses of images that it serves begin with: "aws" of 'aws://eu-west-1/ami-1'.
  virtual std::vector<std::string> image_schemes() const = 0;
  // Whether credentials are configured for an account ("": the default one), as far as it is known without a
  // network: a machine's own identity is not looked for.
  virtual bool has_credentials(const std::string& account) const = 0;
  // Whether an account's cloud is the one that an image of such a scheme is of, as far as the address says
  // it.
  virtual bool serves_image(const std::string& /*account*/, const std::string& /*url*/) const { return true; }
  // Where a node goes: the region that it names, else the configured one; empty where there is none.
  virtual std::string region_for(const ir::Node& node) const = 0;
  // Asks no network. Invalid: no such account or region; says what to configure.
  virtual Result<std::unique_ptr<Cloud>> make(const CloudId& id) = 0;
};

class CloudSet {
 public:
  // CloudId::text() -> cloud: those that there is one of.
  std::map<std::string, Cloud*> by_id;
  std::string asked;               // --cloud: for nodes whose `deploy` names none
  std::string fallback = "local";  // where that is empty too, and the node's images are for none of these
  // The name that a `deploy` may use -> CloudId::text() of one cloud.
  std::map<std::string, std::string> by_name;
  // What people call a type elsewhere -> its name: suggestions for unknown names.
  std::map<std::string, std::string> other_names;

  void add(Cloud& cloud);
  // Under its type's name, for the default account. Lives longer than the set.
  void add(CloudFamily& family);
  // `one` lives as long as the set and its copies.
  template <class T>
  T& keep(std::unique_ptr<T> one) {
    T& kept = *one;
    kept_.emplace_back(std::move(one));
    return kept;
  }
  // Another account of a family: the id of a credential.
  void add_account(const std::string& name, CloudFamily& family);

  // The name of the cloud that a node is for: its `deploy` names it, else `asked`, else its images (of
  // several clouds': the first with credentials, else the first), else those of its soft features, else
  // `fallback`.
  std::string name_for(const ir::Node& node) const { return place_for(node).name; }
  // CloudId::text() of the cloud that a node is for; the name itself where there is none of it.
  std::string id_for(const ir::Node& node) const;
  // nullptr: there is none; why_not() says why. Thread-safe.
  Cloud* find(const std::string& id) const;
  Status why_not(const std::string& id) const;
  // The name of a cloud that a mistaken one stands for: "ec2" for "aws" and "EC2"; "": none is near.
  std::string meant_by(const std::string& name) const;
  // Whether a `deploy` or `--cloud` may say so.
  bool knows(const std::string& name) const;
  std::vector<std::string> names() const;
  // Names for which has_credentials() holds: types of families, and accounts of theirs.
  std::vector<std::string> with_credentials() const;
  // Those that there is one of, and those of families that have been asked for.
  std::vector<std::string> ids() const;

 private:
  struct Account {
    CloudFamily* family = nullptr;
    std::string account;
  };
  // What find() has made; shared by copies of the set.
  struct Made {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<Cloud>> clouds;
    std::map<std::string, Status> refused;
  };
  struct Place {
    std::string name;
    std::vector<std::string> soft_images;  // that have decided, though they are not (yet) the node's
  };
  Place place_for(const ir::Node& node) const;
  // The name of the cloud that an image is for, of a family's accounts the first that serves it; "": none.
  std::string name_of_image(const std::string& url) const;
  std::string imaged(const std::vector<std::string>& image_urls) const;

  std::map<std::string, std::string> by_scheme_;  // of images -> name
  std::map<std::string, Account> accounts_;       // by name
  std::map<std::string, CloudFamily*> families_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::shared_ptr<Made> made_ = std::make_shared<Made>();
};

}  // namespace radl

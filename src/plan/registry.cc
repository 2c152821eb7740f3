#include "plan/registry.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/mutex.h"
#include "core/nearest_word.h"

namespace medley {
namespace {

class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  std::shared_ptr<const MethodBase> find(std::string_view name) const {
    const Lock lock(mutex_);
    const auto found = std::ranges::find_if(
        methods_, [&](const auto& method) { return method->info().name == name; });
    return found == methods_.end() ? nullptr : *found;
  }

  void add(std::shared_ptr<const MethodBase> method) {
    const MethodInfo& info = method->info();
    if (info.name.empty()) fail_argument("a method must have a name");
    const Lock lock(mutex_);
    for (const auto& known : methods_) {
      if (known->info().name != info.name) continue;
      fail_argument(fmt::format("a method is called \"{}\" already", info.name));
    }
    methods_.push_back(std::move(method));
  }

  std::vector<const MethodInfo*> infos() const {
    const Lock lock(mutex_);
    std::vector<const MethodInfo*> list;
    for (const auto& method : methods_) list.push_back(&method->info());
    return list;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<const MethodBase>> methods_ = own_methods();
};

[[noreturn]] void fail_unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo* info : methods()) names.push_back(info->name);
  const std::string near = suggestion(name, names);
  fail_argument(
      fmt::format("unknown method \"{}\"{}", name.substr(0, 40),
                  near.empty() ? fmt::format("; methods are {}", fmt::join(names, ", ")) : near));
}

std::shared_ptr<const MethodBase> defaults_of(std::string_view name) {
  std::shared_ptr<const MethodBase> found = Registry::instance().find(name);
  if (!found) fail_unknown(name);
  return found;
}

}  // namespace

std::vector<const MethodInfo*> methods() { return Registry::instance().infos(); }

const MethodInfo* find_method(std::string_view name) {
  const auto found = Registry::instance().find(name);
  return found ? &found->info() : nullptr;
}

const MethodInfo& get_method(std::string_view name) { return defaults_of(name)->info(); }

void register_method(std::shared_ptr<const MethodBase> defaults) {
  Registry::instance().add(std::move(defaults));
}

Method::Method(std::string_view name) : base_(defaults_of(name)) {}

}  // namespace medley

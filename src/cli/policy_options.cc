#include "cli/policy_options.h"

#include <fmt/format.h>

namespace medley::cli {

void PolicyOptions::add_to(CLI::App& app, Pairing pairing) {
  common_.pairing = pairing;
  add_method(app);
  for (const char* option : {"pairing", "mode", "no_self", "same_class", "other_class", "label"}) {
    add_common(app, option, "Pairing and labels");
  }
  app.get_option("--same-class")->excludes(app.get_option("--other-class"));
  for (const char* option : {"pad", "flip"}) add_common(app, option, "Crop and flip");
}

void PolicyOptions::add_masks_to(CLI::App& app) {
  add_method(app);
  add_common(app, "label", "Pairing and labels");
}

void PolicyOptions::add_method(CLI::App& app) {
  app_ = &app;
  app.add_option("--method", method_, "how to mix; \"medley info\" lists the methods")
      ->type_name("NAME")
      ->default_str(method_)
      ->group("Method");
  add_common(app, "prob", "Method");
  flags_.add_to(app, "Options of methods");
}

void PolicyOptions::add_common(CLI::App& app, std::string_view option, const std::string& group) {
  const OptionSpec& spec = *find_option(policy_options(), option);
  add_flag_of(app, spec, [this, option](const std::string& text) { common_texts_[option] = text; })
      ->default_str(spec.type == OptionType::flag ? "" : to_text(spec.get(&common_)))
      ->group(group);
}

MixPolicy PolicyOptions::policy() const {
  MixPolicy policy = common_;
  for (const auto& [option, text] : common_texts_) {
    const OptionSpec& spec = *find_option(policy_options(), option);
    set_option(spec, &policy, parse_option(spec, text));
  }
  policy.method = flags_.method(method_);
  return policy;
}

void PolicyOptions::note_unused(bool quiet) const {
  cli::note_unused(
      {method_}, [this](std::string_view option) { return flags_.given(option); }, quiet);
}

bool PolicyOptions::given(const std::string& flag) const { return app_->count(flag) > 0; }

}  // namespace medley::cli

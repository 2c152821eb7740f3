#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "medley/options.h"
#include "medley/plan.h"
#include "medley/random.h"
#include "medley/types.h"

namespace medley {

namespace theory {
struct MomentForm;
class MaskList;
}  // namespace theory

/// The weight that labels get: the mean of the mask that was applied, or the drawn lam.
enum class LabelRule : std::uint8_t { realized, drawn };

/// Their names.
inline constexpr std::array<std::string_view, 2> kLabelRules = {"realized", "drawn"};
/// The names of the rules, in order.
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(LabelRule) noexcept {
  return kLabelRules;
}

/// How lam comes about: fixed, or a draw from Beta(alpha, beta). A part of most methods.
struct LambdaDistribution {
  double alpha = 1;
  std::optional<double> beta = {};  ///< alpha
  std::optional<double> lam = {};   ///< drawn

  /// alpha, beta and lam, which may lie outside [0, 1] if `unbounded`.
  [[nodiscard]] static std::vector<OptionSpec> options(bool unbounded = false);

  /// The fixed lam, or a draw.
  [[nodiscard]] double draw(const UnitRandom& random) const noexcept;
};

/// What a draw decides: lam and mask, shared by the samples of the unit.
struct MaskDraw {
  double lam = 1;
  Mask mask = FlatMask{1};
  double realized =
      std::numeric_limits<double>::quiet_NaN();  ///< mean of the mask; NaN: to be taken
  Resample resample = Resample::none;
};

/// A method bound to its options and an image size: draws masks. Immutable.
class MaskSampler {
 public:
  virtual ~MaskSampler() = default;

  /// `field` has height*width elements if `makes_field()`, else none; a sampler that fills it
  /// returns a FieldMask, or a GridMask of its first values (whose offset the caller sets).
  /// `weights` has `sources()` elements if `lists_terms()`, else none, and gets the weight of every
  /// source.
  [[nodiscard]] virtual MaskDraw draw(const UnitRandom& random, std::span<float> field,
                                      std::span<double> weights) const = 0;
  /// Whether the draws of a plan are made by one call of `draw_many`, on the thread that asks for
  /// the plan: for samplers that make many at a time in less time.
  [[nodiscard]] virtual bool draws_together() const { return false; }
  /// The draws of several units, each as `draw` makes it, of a sampler that does not list terms.
  /// `fields` has the fields of the units one after another.
  virtual void draw_many(std::span<const UnitRandom> units, std::span<float> fields,
                         std::span<MaskDraw> draws) const;
  /// Whether `draw` is given a field to fill.
  [[nodiscard]] virtual bool makes_field() const { return false; }
  /// Draws that take longer than waking a thread for them: parametric masks take a tenth of a
  /// microsecond each, fields many.
  [[nodiscard]] virtual std::int64_t draws_per_thread() const { return makes_field() ? 1 : 1024; }
  /// Whether outputs are weighted sums, listed as terms of the plan.
  [[nodiscard]] virtual bool lists_terms() const { return false; }
  /// Images per output; 1: nothing is mixed.
  [[nodiscard]] virtual std::int32_t sources() const { return 2; }
};

/// What is known of a method.
struct MethodInfo {
  std::string name;
  std::string title;  ///< "HMix": in documents, and the name of the class in Python
  std::string summary;
  std::string source;    ///< where the method was published
  bool in_place = true;  ///< two-source mix that may overwrite its input
  bool mixture = false;  ///< draws one of several other methods
  bool flat = false;     ///< one weight for all pixels: draws do not depend on the size
  std::vector<OptionSpec> options = {};

  /// Whether the method has an option of that name.
  [[nodiscard]] bool uses(std::string_view option) const noexcept;
  /// Whether its masks depend on a lam, which can be fixed.
  [[nodiscard]] bool uses_lam() const noexcept { return uses("lam"); }
  /// Whether a fixed lam may lie outside [0, 1].
  [[nodiscard]] bool unbounded_lam() const noexcept;
};

/// A method with options, of a type that only it knows. What it has no answer for, it has not:
/// without moments in closed form there is Monte Carlo, without a list of its masks there are no
/// exact losses.
class MethodBase {
 public:
  virtual ~MethodBase() = default;

  /// What is known of the method, the same for all values of its options.
  [[nodiscard]] virtual const MethodInfo& info() const = 0;
  /// A copy whose options can be changed.
  [[nodiscard]] virtual std::shared_ptr<MethodBase> clone() const = 0;
  /// The object that the options of `info()` are fields of.
  [[nodiscard]] virtual const void* fields() const = 0;
  [[nodiscard]] virtual void* fields() = 0;
  /// Throws InvalidArgument if the options do not fit each other, or the size.
  [[nodiscard]] virtual std::unique_ptr<MaskSampler> bind(ImageSize size,
                                                          LabelRule label) const = 0;
  /// Images per output; 1: nothing is mixed.
  [[nodiscard]] virtual std::int32_t sources() const { return 2; }

  /// Whether the moments of its masks (of its effective masks) are known in closed form.
  [[nodiscard]] virtual bool has_moments(bool /*effective*/) const { return false; }
  /// Adds the moments of its masks to the form, where it has them.
  virtual void add_moments(theory::MomentForm& /*form*/, bool /*effective*/,
                           LabelRule /*label*/) const {}
  /// Whether its masks can be listed with their probabilities.
  [[nodiscard]] virtual bool has_mask_list() const { return false; }
  /// Adds its masks to the list, where it can.
  virtual void list_masks(theory::MaskList& /*list*/, LabelRule /*label*/) const {}
};

/// A type that is a method: a name, a table of its fields, and either
///   - `draw(random, size)`, a MaskDraw with a parametric mask, or
///   - `draw(random, size, field)`, which fills the field and returns lam, or
///   - `bind(size, label)`, a MaskSampler, for what is worked out once per size.
template <typename M>
concept MixMethod = requires {
  { M::name } -> std::convertible_to<std::string_view>;
  { M::summary } -> std::convertible_to<std::string_view>;
  { M::options() } -> std::convertible_to<std::vector<OptionSpec>>;
  requires std::copyable<M>;
};

template <MixMethod M>
class TypedMethod;

/// An option with its value.
struct Setting {
  std::string_view option;
  OptionValue value;
};

/// A mixing method with its options: `Method("hmix")`, `Method("hmix", {{"ratio", 0.5}})`, or a
/// struct that is a MixMethod. A value; copies share what they hold until one is changed.
class Method {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a name is the method with its defaults.
  /// Throws InvalidArgument, with the nearest name, if no method is called so.
  Method(std::string_view name);
  Method(const char* name) : Method(std::string_view(name)) {}
  Method(const std::string& name) : Method(std::string_view(name)) {}
  /// Throws InvalidArgument if a field has a value that it cannot have.
  template <MixMethod M>
  Method(M options) : Method(std::make_shared<TypedMethod<M>>(std::move(options))) {}
  // NOLINTEND(google-explicit-constructor)
  /// Throws InvalidArgument, too, for an option that the method does not have or a value that it
  /// does not take.
  Method(std::string_view name, std::initializer_list<Setting> settings);
  /// The method that `base` is; it must not be null.
  explicit Method(std::shared_ptr<const MethodBase> base);

  /// What is known of it, and its name.
  [[nodiscard]] const MethodInfo& info() const { return base_->info(); }
  [[nodiscard]] std::string_view name() const { return info().name; }
  /// Whether it has an option of that name.
  [[nodiscard]] bool uses(std::string_view option) const { return info().uses(option); }

  /// Throws InvalidArgument if the method has no such option.
  [[nodiscard]] OptionValue get(std::string_view option) const;
  /// Sets an option. Throws InvalidArgument for one that the method does not have, or a value that
  /// it does not take.
  Method& set(std::string_view option, const OptionValue& value);
  /// Sets the option if the method has it, and says whether it has.
  bool set_if_used(std::string_view option, const OptionValue& value);

  /// What draws its masks for images of that size. Throws InvalidArgument.
  [[nodiscard]] std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const {
    return base_->bind(size, label);
  }
  /// Images per output; 1: nothing is mixed.
  [[nodiscard]] std::int32_t sources() const { return base_->sources(); }
  /// What it holds.
  [[nodiscard]] const MethodBase& base() const { return *base_; }

  /// The struct, if the method is one of that type; else null.
  template <MixMethod M>
  [[nodiscard]] const M* as() const;

  friend bool operator==(const Method& method, std::string_view name) {
    return method.name() == name;
  }

 private:
  std::shared_ptr<const MethodBase> base_;
};

/// Every method, ours in the order of the documentation, then those that were registered.
[[nodiscard]] std::vector<const MethodInfo*> methods();

/// The title of a method that states none: "gaussian-field" is GaussianField.
[[nodiscard]] std::string title_of(std::string_view name);

/// The method of that name, or null.
[[nodiscard]] const MethodInfo* find_method(std::string_view name);

/// The method of that name; throws InvalidArgument with the nearest name if there is none.
[[nodiscard]] const MethodInfo& get_method(std::string_view name);

/// Makes a method known by its name, with these options as its defaults, for the life of the
/// process. Throws InvalidArgument if the name is taken. Thread-safe.
void register_method(std::shared_ptr<const MethodBase> defaults);

/// The same for a struct, with the values of its fields as defaults.
template <MixMethod M>
void register_method() {
  register_method(std::make_shared<const TypedMethod<M>>(M{}));
}

// ---- how a struct becomes a method ----

/// Mean of a field.
[[nodiscard]] double field_mean(std::span<const float> field) noexcept;

/// Draws by the `draw` of a struct.
template <MixMethod M>
class StructSampler final : public MaskSampler {
 public:
  /// Draws for images of that size.
  StructSampler(M method, ImageSize size) : method_(std::move(method)), size_(size) {}

  MaskDraw draw(const UnitRandom& random, [[maybe_unused]] std::span<float> field,
                std::span<double> /*weights*/) const override {
    if constexpr (kMakesField) {
      const double lam = method_.draw(random, size_, field);
      return {lam, FieldMask{}, field_mean(field)};
    } else {
      return method_.draw(random, size_);
    }
  }
  bool makes_field() const override { return kMakesField; }

 private:
  static constexpr bool kMakesField =
      requires(const M& m, const UnitRandom& random, ImageSize size, std::span<float> field) {
    m.draw(random, size, field);
  };

  M method_;
  ImageSize size_;
};

/// A struct as a method.
template <MixMethod M>
class TypedMethod final : public MethodBase {
 public:
  /// Throws InvalidArgument if a field has a value that it cannot have.
  explicit TypedMethod(M options) : options_(std::move(options)) {
    check_options(info().options, &options_);
  }

  const MethodInfo& info() const override {
    static const MethodInfo info = describe();
    return info;
  }
  std::shared_ptr<MethodBase> clone() const override {
    return std::make_shared<TypedMethod>(options_);
  }
  const void* fields() const override { return &options_; }
  void* fields() override { return &options_; }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const override {
    if constexpr (requires { options_.bind(size, label); }) {
      return options_.bind(size, label);
    } else {
      return std::make_unique<StructSampler<M>>(options_, size);
    }
  }

  std::int32_t sources() const override {
    if constexpr (requires { options_.sources(); }) {
      return options_.sources();
    } else {
      return 2;
    }
  }

  bool has_moments(bool effective) const override {
    if constexpr (requires { options_.has_moments(effective); }) {
      return options_.has_moments(effective);
    } else {
      return kHasMoments;
    }
  }
  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const override {
    if constexpr (kHasMoments) options_.add_moments(form, effective, label);
  }
  bool has_mask_list() const override {
    if constexpr (requires { options_.has_mask_list(); }) {
      return options_.has_mask_list();
    } else {
      return kHasMaskList;
    }
  }
  void list_masks(theory::MaskList& list, LabelRule label) const override {
    if constexpr (kHasMaskList) options_.list_masks(list, label);
  }

  /// The struct.
  [[nodiscard]] const M& options() const noexcept { return options_; }

 private:
  static constexpr bool kHasMoments =
      requires(const M& m, theory::MomentForm& form, LabelRule label) {
    m.add_moments(form, false, label);
  };
  static constexpr bool kHasMaskList =
      requires(const M& m, theory::MaskList& list, LabelRule label) {
    m.list_masks(list, label);
  };

  static MethodInfo describe() {
    MethodInfo info;
    info.name = M::name;
    if constexpr (requires { M::title; }) {
      info.title = M::title;
    } else {
      info.title = title_of(M::name);
    }
    info.summary = M::summary;
    info.options = M::options();
    if constexpr (requires { M::source; }) info.source = M::source;
    if constexpr (requires { M::in_place; }) info.in_place = M::in_place;
    if constexpr (requires { M::mixture; }) info.mixture = M::mixture;
    if constexpr (requires { M::flat; }) info.flat = M::flat;
    return info;
  }

  M options_;
};

template <MixMethod M>
const M* Method::as() const {
  const auto* typed = dynamic_cast<const TypedMethod<M>*>(base_.get());
  return typed == nullptr ? nullptr : &typed->options();
}

}  // namespace medley

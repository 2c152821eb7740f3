// A mixing method of one's own: stripes of the partner, across the image. It plans, mixes, explains
// and lists its options as the library's own methods do.

#include <cmath>
#include <cstdio>

#include "medley/medley.h"
#include "medley/theory/coefficients.h"

struct Stripes {
  static constexpr std::string_view name = "stripes";
  static constexpr std::string_view summary = "pastes stripes of the partner into the image";

  medley::LambdaDistribution lambda;
  int count = 4;

  static std::vector<medley::OptionSpec> options() {
    return medley::OptionTable<Stripes>()
        .with(&Stripes::lambda, medley::LambdaDistribution::options())
        .add(&Stripes::count, "count", "stripes over the height",
             {.range = medley::between(1, 64)});
  }

  double draw(const medley::UnitRandom& random, medley::ImageSize size,
              std::span<float> field) const {
    const double lam = lambda.draw(random);
    const double phase = random.stream(medley::Purpose::mask).uniform();
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto row = static_cast<double>(i / static_cast<std::size_t>(size.width));
      const double at = row * count / size.height + phase;
      field[i] = at - std::floor(at) < lam ? 1.0f : 0.0f;
    }
    return lam;
  }
};

int main() {
  medley::register_method<Stripes>();
  for (const auto& option : medley::get_method("stripes").options) {
    std::printf("%-6s %s (default: %s)\n", option.name.c_str(), option.help.c_str(),
                option.default_text().c_str());
  }
  const medley::MixPolicy policy{.method = {"stripes", {{"count", 2}, {"lam", 0.5}}}};
  const medley::BatchShape shape{2, 1, 8, 4};
  std::vector<float> images(64, 0.0f), mixed(64);
  std::fill(images.begin() + 32, images.end(), 1.0f);
  medley::mix(medley::Sampler(policy, shape.size(), 1).plan({.batch = 2}),
              medley::view_of(images, shape), medley::mutable_view_of(mixed, shape));
  for (std::size_t row = 0; row < 8; ++row) std::printf("%g", mixed[4 * row]);
  const auto moments = medley::theory::monte_carlo(policy, shape.size(), {.draws = 1000});
  std::printf("\nE[(1-M)^2] = %.2f +- %.2f\n", moments.map[0].value, moments.map[0].error);
}

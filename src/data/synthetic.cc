#include "medley/data/dataset.h"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "data/codec.h"
#include "data/synthetic/scene.h"
#include "medley/error.h"
#include "medley/random.h"

namespace medley::data {

static_assert(kSyntheticClasses ==
              std::tuple_size_v<std::remove_cvref_t<decltype(synthetic::objects())>>);

std::string_view synthetic_class_name(std::int32_t object_class) {
  if (object_class < 0 || object_class >= kSyntheticClasses) {
    throw InvalidArgument(
        fmt::format("object_class must be in [0, {}), got {}", kSyntheticClasses, object_class));
  }
  return synthetic::objects()[static_cast<std::size_t>(object_class)].name;
}

Image synthetic_image(std::uint64_t seed, std::int64_t index, std::int32_t object_class,
                      ImageSize size) {
  (void)synthetic_class_name(object_class);  // checks
  if (index < 0 || static_cast<std::uint64_t>(index) > kMaxOrdinal) {
    throw InvalidArgument(fmt::format("index must be in [0, {}], got {}", kMaxOrdinal, index));
  }
  check_pixels(size, static_cast<std::size_t>(std::max<std::int64_t>(size.pixels(), 0)), 1);
  RandomStream random(seed, 0, static_cast<std::uint64_t>(index), Purpose::picture);
  return synthetic::render(random, synthetic::objects()[static_cast<std::size_t>(object_class)],
                           size);
}

}  // namespace medley::data

#include "medley/mix.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/simd_target.h"
#include "medley/error.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Backend, IsKnownByItsName) {
  for (const Backend backend :
       {Backend::automatic, Backend::reference, Backend::cpu, Backend::cuda}) {
    EXPECT_EQ(backend_from_name(name_of(backend)), backend);
  }
}

TEST(Backend, OfAnotherNameIsRefused) {
  EXPECT_THAT([] { (void)backend_from_name("gpu"); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("auto, cpu, cuda or reference"), HasSubstr("got \"gpu\""))));
}

TEST(Backend, ProcessorIsAlwaysThereAndTheReferenceLast) {
  const std::vector<Backend> backends = available_backends();
  EXPECT_THAT(backends, testing::Contains(Backend::cpu));
  EXPECT_EQ(backends.back(), Backend::reference);
}

TEST(SimdTargets, AreAtLeastOne) { EXPECT_FALSE(simd_targets().empty()); }

TEST(SimdTargets, MayBeChosenByName) {
  for (const std::string_view target : simd_targets()) EXPECT_NO_THROW(set_simd_target(target));
  EXPECT_NO_THROW(set_simd_target(""));
}

TEST(SimdTargets, OfAnotherNameAreRefused) {
  EXPECT_THAT([] { set_simd_target("MMX"); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("MMX"), HasSubstr(std::string(simd_targets().front())))));
  set_simd_target("");
}

TEST(SimdTargets, AreAllThereAgainAfterwards) {
  const auto before = simd_targets();
  set_simd_target(before.back());
  set_simd_target("");
  EXPECT_EQ(simd_targets(), before);
}

}  // namespace
}  // namespace medley

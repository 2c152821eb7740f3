#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/mix_request.h"
#include "cli/output_options.h"
#include "cli/picture.h"
#include "cli/plan_table.h"
#include "cli/staged_output.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/plan_edit.h"
#include "medley/sampler.h"

namespace fs = std::filesystem;

namespace medley::cli {
namespace {

using nlohmann::ordered_json;

/// Checks that the number of files suits the method and returns the policy to plan with.
MixPolicy policy_for_files(const FilesRequest& request) {
  MixPolicy policy = request.policy;
  const auto files = static_cast<std::int64_t>(request.inputs.size());
  if (files < 2) throw InvalidArgument(fmt::format("two files or more are needed, got {}", files));
  // Methods of more than two images have their number as an option.
  if (!request.n_given) policy.method.set_if_used("n", files);
  const std::int32_t sources = std::max(policy.method.sources(), 2);
  if (sources != files && policy.method.uses("n")) {
    throw InvalidArgument(
        fmt::format("n must be the number of files, {}, got {}; leave --n out or name {} files",
                    files, sources, sources));
  }
  if (sources != files) {
    throw InvalidArgument(fmt::format("method {} mixes two files, got {}; nmixup mixes more",
                                      policy.method.name(), files));
  }
  // The files say who is mixed with whom; "reverse" makes the second the partner of the first.
  policy.pairing = Pairing::reverse;
  policy.mode = Mode::sample;
  policy.no_self = false;
  policy.classes = ClassRule::any;
  return policy;
}

/// The plan of one output whose sources are the files in their order.
MixPlan plan_files(const MixPolicy& policy, ImageSize size, std::uint64_t seed,
                   std::int64_t files) {
  PlanRequest draw;
  draw.batch = files;
  MixPlan plan = slice(Sampler(policy, size, seed).plan(draw), 0, 1);
  MixEntry& entry = plan.entries.front();
  entry.own.index = 0;
  entry.partner.index = 1;
  for (std::size_t k = 0; k < plan.terms.size(); ++k) {
    plan.terms[k].source.index = static_cast<std::int64_t>(k);
  }
  if (entry.term_count > 1) entry.partner = plan.terms[1].source;
  return plan;
}

std::vector<data::Image> read_files(const FilesRequest& request) {
  std::vector<data::Image> images;
  const data::DecodeOptions decoding{.exif = request.exif, .note = [&](const std::string& note) {
                                       print_note(note, request.quiet);
                                     }};
  for (const std::string& path : request.inputs) {
    images.push_back(data::read_image(path, decoding));
    const ImageSize size = images.front().size;
    const ImageSize had = images.back().size;
    if (had == size) continue;
    images.back() = data::resize(images.back(), size);
    print_note(fmt::format("{} resized from {}x{} to {}x{} (height x width), the size of {}", path,
                           had.height, had.width, size.height, size.width, request.inputs.front()),
               request.quiet);
  }
  return images;
}

bool is_png_name(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".png" || ending == ".PNG";
}

/// Refuses outputs that would destroy an input or each other, or that are no PNG files.
void check_outputs(const FilesRequest& request, const fs::path& output) {
  std::vector<fs::path> taken(request.inputs.begin(), request.inputs.end());
  for (const fs::path& path : {output, fs::path(request.mask_output)}) {
    if (path.empty()) continue;
    if (!is_png_name(path)) {
      throw InvalidArgument(
          fmt::format("output must be a PNG file, got {}; end its name in .png", path.string()));
    }
    for (const fs::path& other : taken) {
      std::error_code ignored;
      if (path.lexically_normal() == other.lexically_normal() ||
          fs::equivalent(path, other, ignored)) {
        throw InvalidArgument(fmt::format(
            "output {} is another file of this command; name a new one", path.string()));
      }
    }
    taken.push_back(path);
    check_place(path);
  }
}

fs::path output_name(const FilesRequest& request) {
  if (!request.output.empty()) return request.output;
  fs::path name = fs::path(request.inputs.front()).stem();
  name += "-mixed.png";
  std::error_code ignored;
  if (!request.overwrite && fs::exists(fs::symlink_status(name, ignored))) {
    throw InvalidArgument(
        fmt::format("{} exists; name an output with -o, or use --overwrite", name.string()));
  }
  return name;
}

ordered_json report(const FilesRequest& request, const MixPlan& plan, const fs::path& output) {
  const ordered_json entry = ordered_json::parse(to_json(plan)).at("entries").at(0);
  ordered_json object = {{"schema", "medley.mix/1"}, {"method", plan.method}, {"seed", plan.seed}};
  object["inputs"] = request.inputs;
  for (const char* key : {"weights", "window", "partner_window", "windows"}) {
    if (entry.contains(key)) object[key] = entry[key];
  }
  for (const char* key : {"lam", "label_weight", "mask"}) object[key] = entry.at(key);
  object["height"] = plan.size.height;
  object["width"] = plan.size.width;
  object["output"] = output.string();
  object["mask_output"] = nullptr;
  if (!request.mask_output.empty()) object["mask_output"] = request.mask_output;
  return object;
}

std::string summary(const MixPlan& plan, const fs::path& output) {
  const MixEntry& entry = plan.entries.front();
  std::string line = fmt::format("{}: {}, lam {:.5g}, label weight {:.5g}", output.string(),
                                 plan.method, entry.lam, entry.label_weight);
  for (std::size_t k = 1; k < plan.terms.size(); ++k) {
    line += fmt::format("{} {:.5g}", k == 1 ? ", others" : "", plan.terms[k].weight);
  }
  return line + fmt::format(", {}, seed {}\n", mask_text(entry.mask), plan.seed);
}

}  // namespace

void mix_files(const FilesRequest& request) {
  const MixPolicy policy = policy_for_files(request);
  const fs::path output = output_name(request);
  check_outputs(request, output);
  const std::vector<data::Image> images = read_files(request);
  const ImageSize size = images.front().size;
  const MixPlan plan =
      plan_files(policy, size, request.seed, static_cast<std::int64_t>(images.size()));
  const data::Image mixed = mix_entry(
      plan, 0, [&](std::int64_t i) { return images[static_cast<std::size_t>(i)]; }, request.mix);

  StagedFiles files;
  files.write(output, data::encode_png(mixed));
  if (!request.mask_output.empty()) {
    files.write(request.mask_output,
                data::encode_png_gray(size, mask_picture(plan, plan.entries.front())));
  }
  files.commit();
  print(request.json ? to_text(report(request, plan, output)) : summary(plan, output));
}

}  // namespace medley::cli

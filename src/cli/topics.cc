#include "cli/topics.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/help_format.h"
#include "medley/error.h"

namespace medley::cli {

Command choose_topic(CLI::App* verb, std::vector<Command> topics) {
  for (const Command& topic : topics) topic.app->group("Topics");
  add_help(*verb);
  return {
      verb, [verb, topics = std::move(topics)] {
        std::string names;
        for (const Command& topic : topics) {
          if (topic.app->parsed()) return topic.run();
          names += (names.empty() ? "" : ", ") + topic.app->get_name();
        }
        throw InvalidArgument(fmt::format("medley {} needs a topic: {}", verb->get_name(), names));
      }};
}

}  // namespace medley::cli

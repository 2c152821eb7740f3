#pragma once

#include <string>
#include <string_view>

namespace medley::cli {

/// Takes the place of standard streams that the caller closed, so that no output file gets their
/// descriptors, and turns a broken pipe into a failed write. Call once, before anything is opened.
void prepare_streams();

/// Writes results to standard output at once. Throws IoError if they cannot be written in full.
void print(std::string_view text);

/// Writes "error: sentence" to standard error, made printable; the first word in red on a terminal
/// unless NO_COLOR is set.
void print_error(std::string_view sentence);

/// Writes "note: sentence" to standard error, made printable, unless `quiet`.
void print_note(std::string_view sentence, bool quiet);

/// `text` with control characters and bytes that are not UTF-8 replaced by '?', so that the content
/// of a file or its name cannot steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// Whether standard error is a terminal.
[[nodiscard]] bool stderr_is_terminal();

}  // namespace medley::cli

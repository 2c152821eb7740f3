#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace medley::cli {

/// Takes the place of standard streams that the caller closed, so that no output file gets their
/// descriptors, and turns a broken pipe and a file beyond the limit of sizes into failed writes.
/// Call once, before anything is opened.
void prepare_streams();

/// Writes results to standard output at once. Throws IoError if they cannot be written in full. A
/// reader that went early ("| head") is no failure: what is left of the output is dropped, and the
/// command goes on with its work.
void print(std::string_view text);

/// Ends the program as SIGPIPE does, if a reader went early. For a program that is done.
void end_like_broken_pipe();

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

/// Columns of the terminal that a stream goes to, 80 where it goes elsewhere or does not say.
[[nodiscard]] std::size_t terminal_columns(std::FILE* stream);

}  // namespace medley::cli

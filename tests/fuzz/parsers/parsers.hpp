// SPDX-License-Identifier: Apache-2.0
// Parsers: what Afterbay reads from files and messages that it did not write itself, one function
// per format. Each takes any bytes and returns; a sanitizer, a signal or an exception ends the
// program.
//
// Built twice: into fuzz_parsers, which damages the files of a corpus (fuzz_parsers.cpp), and with
// clang's libFuzzer, one program per parser (AFTERBAY_LIBFUZZER).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace afterbay::test {

using Bytes = std::span<const std::byte>;

void parse_calendar_text(Bytes bytes);  ///< dates, periods, units of time axes and patterns, one per line
void parse_cdf_header(Bytes bytes);     ///< classic netCDF formats
void parse_configuration(Bytes bytes);  ///< YAML
void parse_decomposition(Bytes bytes);  ///< PIO's text, E3SM-IO's and our own files
void parse_encoded_chunk(Bytes bytes);  ///< chunks of any codec
void parse_epoch_log(Bytes bytes);      ///< epoch log beside a part file
/// Expressions of fields, one per line; units, if a line is not an expression.
void parse_expression(Bytes bytes);
void parse_fields_file(Bytes bytes);         ///< fields files of the Unified Model, complete or not
void parse_journal(Bytes bytes);             ///< journal of one server
void parse_messages(Bytes bytes);            ///< messages of all directions
void parse_model_definitions(Bytes bytes);   ///< YAML, which must read back from what is written
void parse_pp_file(Bytes bytes);             ///< fields of the Unified Model
void parse_statistics_page(Bytes bytes);     ///< statistics page of a running server
void parse_statistics_state(Bytes bytes);    ///< state of a statistic over time
void parse_wgdos_field(Bytes bytes);         ///< a packed field of the Unified Model
void parse_output_description(Bytes bytes);  ///< YAML, which must read back from what is printed

/// Writes one encoded message of each kind: the corpus of parse_messages.
void write_messages(const std::filesystem::path& directory);

/// Writes one chunk per codec, alone and in a chain: the corpus of parse_encoded_chunk.
void write_chunks(const std::filesystem::path& directory);

/// What is wrong with this corpus: each codec that the build has must have its seeds, and they must
/// be decoded. Empty: nothing.
std::string check_chunks(const std::filesystem::path& directory);

/// Writes one saved state of each kind: the corpus of parse_statistics_state.
void write_states(const std::filesystem::path& directory);

/// Writes a file with a field of each packing: the corpus of parse_pp_file.
void write_pp_file(const std::filesystem::path& directory);

/// Writes files with a field of each packing, complete and unfinished: the corpus of
/// parse_fields_file.
void write_fields_files(const std::filesystem::path& directory);

/// Writes fields with and without bitmaps: the corpus of parse_wgdos_field.
void write_wgdos_fields(const std::filesystem::path& directory);

/// A file with these bytes in the working directory, for parsers that take a path. Its name is the
/// same each time.
std::filesystem::path file_with(Bytes bytes, const char* name);

}  // namespace afterbay::test

/// At the end of each parser's source. libFuzzer calls its entry point by this name.
#ifdef AFTERBAY_LIBFUZZER
#define AFTERBAY_FUZZ_ENTRY(parser)                                                   \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    afterbay::test::parser({reinterpret_cast<const std::byte*>(data), size});         \
    return 0;                                                                         \
  }
#else
#define AFTERBAY_FUZZ_ENTRY(parser) static_assert(true)
#endif

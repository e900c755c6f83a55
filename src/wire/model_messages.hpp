// SPDX-License-Identifier: Apache-2.0
// Messages from model ranks to I/O servers. Messages of one rank to one server arrive in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/file_options.hpp"
#include "model/format.hpp"
#include "model/frame_owners.hpp"
#include "statistics/statistic.hpp"
#include "wire/data_fields.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

/// All messages of this direction. The handlers are in server/message_handlers.cpp.
using FromModel =
    MessageList<first_from_model, struct DefineDecomposition, struct DefineMap, struct DefineCollection,
                struct DefineEnd, struct OpenFile, struct AskServer, struct BeginRecord, struct Put,
                struct PutStrings, struct EndRecords, struct CloseFile, struct AskRecords, struct Flush,
                struct EndEpoch, struct Waiting, struct Finalize, struct Abandon, struct FrontendEnds,
                struct OpenInput, struct InputCells, struct GetInput, struct InputTaken,
                struct GetInputStrings, struct CloseInput>;

// ---- definitions: sent by each rank, answered by Defined when those of all ranks have arrived

/// A rank's part of a decomposition in blocks, for the servers that write collections on it, and
/// for the one that checks it (checker_of). Sent again if a server needs the block for a new
/// collection.
struct DefineDecomposition {
  static constexpr Kind kind = FromModel::kind<DefineDecomposition>();
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  std::uint8_t held = 0;   ///< 1: the rank holds points
  std::uint8_t check = 0;  ///< 1: this server checks the blocks of all ranks
  std::uint8_t used = 0;   ///< 1: this server writes collections on the decomposition
  std::uint8_t here = 0;   ///< 1: pieces of this server lie in the block
  Block block;  ///< without start and count if the rank holds no points or the server needs no block
  template <class A>
  void fields(A& a) {
    a(id, name, coverage, held, check, used, here, block);
  }
};

/// The server that checks the blocks of a decomposition, as each rank knows without knowing the
/// collections of others.
constexpr std::size_t checker_of(std::uint32_t decomposition, std::size_t servers) {
  return decomposition % servers;
}

/// The points of a map that a rank holds, as far as the server needs them (model/map_division.hpp).
/// Sent again with all of these points if the server needs more of them for a new collection.
struct DefineMap {
  static constexpr Kind kind = FromModel::kind<DefineMap>();
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  std::vector<std::uint64_t> global;  ///< lengths, C order
  std::uint64_t held = 0;             ///< number of points that the rank holds, those for other servers too
  std::uint8_t all = 0;               ///< 1: this server gets all points of all ranks
  std::uint8_t lost = 0;              ///< 1: the rank lost points to others when the map was checked before
  std::vector<std::byte> points;      ///< by model::encode_offsets, ascending; empty: none for this server
  std::vector<std::byte> list;        ///< encoded likewise, in the order of the rank's array;
                                      ///< empty: ascending
  template <class A>
  void fields(A& a) {
    a(id, name, coverage, global, held, all, lost, points, list);
  }
};

/// A setting of a stage of one variable, see pipeline/stage.hpp.
struct StageSettingValue {
  std::uint32_t variable = 0;  ///< index in the schema
  std::string name;
  std::string value;
  template <class A>
  void fields(A& a) {
    a(variable, name, value);
  }
  friend bool operator==(const StageSettingValue&, const StageSettingValue&) = default;
};

/// What a formula computes with: samples of the type of the variable.
struct OperandDefinition {
  std::uint32_t source = 0;      ///< samples of the operand: BeginRecord::source
  std::uint8_t is_constant = 0;  ///< 1: it has one sample, which holds for all steps
  Values missing{};              ///< missing values of the samples; empty: nothing is missing
  template <class A>
  void fields(A& a) {
    a(source, is_constant, missing);
  }
  friend bool operator==(const OperandDefinition&, const OperandDefinition&) = default;
};

/// A computation point by point, from operands of a formula or results of earlier ones.
struct FormulaStep {
  std::string text;  ///< expression::Formula::text
  /// The arguments of the step in order: the number of an operand of the formula, or the number of
  /// its operands plus that of an earlier step.
  std::vector<std::uint32_t> operands;
  template <class A>
  void fields(A& a) {
    a(text, operands);
  }
  friend bool operator==(const FormulaStep&, const FormulaStep&) = default;
};

/// Computations point by point. The result of the last one is multiplied and added to if it is
/// written as it is.
struct FormulaDefinition {
  std::vector<FormulaStep> steps;
  std::vector<OperandDefinition> operands;
  double multiply = 1;
  double add = 0;
  template <class A>
  void fields(A& a) {
    a(steps, operands, multiply, add);
  }
  friend bool operator==(const FormulaDefinition&, const FormulaDefinition&) = default;
};

/// What the servers compute of the samples of a variable: the values of a formula, a statistic over
/// time, or a statistic of the values of a formula. The results are the values of the variable.
struct ReductionDefinition {
  std::uint32_t variable = 0;  ///< index in the schema
  std::optional<FormulaDefinition> formula{};
  std::uint8_t is_over_time = 1;  ///< 1: `statistic` holds
  statistics::Statistic statistic;
  /// Missing values of the samples, without a formula: see statistics::SampleFormat::missing.
  Values missing;
  template <class A>
  void fields(A& a) {
    a(variable, formula, is_over_time, statistic.kind, statistic.missing, statistic.threshold,
      statistic.weighted, statistic.sample, missing);
  }
  friend bool operator==(const ReductionDefinition&, const ReductionDefinition&) = default;
};

/// What the ranks define alike. The lists grow with servers and variables: one rank sends them.
struct CollectionDefinition {
  Format format{};
  Existing existing = Existing::refuse;
  model::FileSharing sharing = model::FileSharing::none;
  std::vector<std::uint32_t> servers;           ///< servers of the collection's pool, ascending
  std::uint32_t first = 0;                      ///< the server that creates its first file
  std::uint64_t gather_bytes = 0;               ///< model::LayoutSizes::gather_bytes
  std::vector<std::int32_t> decompositions;     ///< one per variable: id, or -1 for Whole
  std::vector<StageSettingValue> stages;        ///< by variable and name
  std::vector<ReductionDefinition> reductions;  ///< by variable
  /// Names of compressors: servers try chains with them on the first records. Empty: none.
  std::vector<std::string> trial_compressors;
  Schema schema;
  template <class A>
  void fields(A& a) {
    a(format, existing, sharing, servers, first, gather_bytes, decompositions, stages, reductions,
      trial_compressors, schema);
  }
};

struct DefineCollection {
  static constexpr Kind kind = FromModel::kind<DefineCollection>();
  std::uint32_t id = 0;
  std::string name;
  std::uint64_t digest = 0;                        ///< digest of the rank's definition: equal on all ranks
  std::optional<CollectionDefinition> definition;  ///< from the lowest model rank only
  template <class A>
  void fields(A& a) {
    a(id, name, digest, definition);
  }
};

/// Ends a batch of definitions, which all servers get, or only one.
struct DefineEnd {
  static constexpr Kind kind = FromModel::kind<DefineEnd>();
  std::uint64_t serial = 0;
  std::uint8_t writes_files = 0;   ///< 1: the session has a collection of files, on this server or
                                   ///< another one
  std::uint8_t balances_load = 0;  ///< 1: files of some collection go to the least loaded server,
                                   ///< see AskServer
  std::uint8_t has_maps = 0;       ///< 1: several servers get points of maps in this batch, which
                                   ///< they check together
  template <class A>
  void fields(A& a) {
    a(serial, writes_files, balances_load, has_maps);
  }
};

// ---- output

struct OpenFile {
  static constexpr Kind kind = FromModel::kind<OpenFile>();
  std::uint64_t file = 0;  ///< the session's running number of opened files, equal on every rank
  std::uint32_t collection = 0;
  std::uint32_t leader = 0;   ///< the server that creates the file; the others are its members
  std::uint8_t assigned = 0;  ///< 1: the file counts for the load of `placement: least`
  std::string path;
  std::optional<SchemaChanges> changes;  ///< from the lowest model rank only
  std::optional<FileName> name{};        ///< likewise: the name from which `path` was built
  std::uint8_t holds_states = 0;         ///< 1: of reductions, whose planes are its records
  template <class A>
  void fields(A& a) {
    a(file, collection, leader, assigned, path, changes, name, holds_states);
  }
};

/// The server that receives the load of all others and chooses the least loaded one, for all pools.
inline constexpr std::uint32_t choosing_server = 0;

/// One option for writing a file: the server that would create it, and the servers whose load
/// counts.
struct Candidate {
  std::uint32_t leader = 0;
  std::vector<std::uint32_t> servers;
  template <class A>
  void fields(A& a) {
    a(leader, servers);
  }
};

/// Asks which server gets file number `nth` of a collection whose files go to the least loaded
/// server. From the lowest model rank to `choosing_server`, which answers to all ranks (Assigned).
struct AskServer {
  static constexpr Kind kind = FromModel::kind<AskServer>();
  std::uint32_t collection = 0;
  std::uint64_t nth = 0;
  std::uint64_t expected_bytes = 0;
  std::vector<Candidate> candidates;
  template <class A>
  void fields(A& a) {
    a(collection, nth, expected_bytes, candidates);
  }
};

/// What a record number stands for.
enum class RecordKind : std::uint8_t {
  record,        ///< a record of a file
  fixed,         ///< the variables without the record dimension
  first_sample,  ///< first sample of an interval, for the collection's reductions: it belongs to no file
  sample,        ///< a further one of the interval
  state,         ///< a plane of the states of the reductions, which are restored: it belongs to no file
};

/// How far the interval of a state that is restored is: statistics::IntervalProgress.
struct SavedProgress {
  std::uint64_t steps = 0;
  double duration = 0;
  std::uint64_t has_reference = 0;
  template <class A>
  void fields(A& a) {
    a(steps, duration, has_reference);
  }
  friend bool operator==(const SavedProgress&, const SavedProgress&) = default;
};

/// The rank's first put for (file, record): the meaning of `seq` for this collection on this
/// server.
struct BeginRecord {
  static constexpr Kind kind = FromModel::kind<BeginRecord>();
  std::uint32_t collection = 0;
  std::uint64_t seq = 0;
  std::uint64_t file = 0;    ///< no_file for samples
  std::uint64_t record = 0;  ///< for samples a running number; for states the number of the plane
  RecordKind meaning = RecordKind::record;
  std::uint32_t source = 0;  ///< for samples: OperandDefinition::source; 0: they are not operands
  /// For samples: how many records with samples of the same step are begun right after this one.
  std::uint32_t more_of_step = 0;
  double duration = 0;                      ///< for samples: see statistics::Bundle::step
  std::optional<SavedProgress> progress{};  ///< for states, also in files of states
  template <class A>
  void fields(A& a) {
    a(collection, seq, file, record, meaning, source, more_of_step, duration, progress);
  }
};

/// Stands in place of the number of a file.
inline constexpr std::uint64_t no_file = ~std::uint64_t{0};

/// The rank has put its whole part of a variable; the pieces were counted before. For a variable
/// with a reduction, in a record of a file: the rank has handed over all samples from which the
/// value is to be computed. In a file of states, the state is that before the record.
struct Put {
  static constexpr Kind kind = FromModel::kind<Put>();
  std::uint32_t collection = 0;
  std::uint64_t seq = 0;
  std::uint32_t variable = 0;
  /// The largest error of the rank's packed values, in the units of the file; negative: they are
  /// not packed.
  double largest_error = -1;
  template <class A>
  void fields(A& a) {
    a(collection, seq, variable, largest_error);
  }
};

/// All elements of a string variable, from the lowest model rank.
struct PutStrings {
  static constexpr Kind kind = FromModel::kind<PutStrings>();
  std::uint64_t file = 0;
  std::uint64_t record = 0;
  std::uint32_t variable = 0;
  std::vector<std::string> values;
  template <class A>
  void fields(A& a) {
    a(file, record, variable, values);
  }
};

/// This rank has put everything with a smaller seq.
struct EndRecords {
  static constexpr Kind kind = FromModel::kind<EndRecords>();
  struct Bound {
    std::uint32_t collection = 0;
    std::uint64_t next_seq = 0;
    template <class A>
    void fields(A& a) {
      a(collection, next_seq);
    }
  };
  std::uint64_t step = 0;
  std::vector<Bound> bounds;
  std::uint64_t waited_for_room_ns = 0;   ///< total time that this rank waited for room in this
                                          ///< server
  std::uint64_t waited_for_files_ns = 0;  ///< total time waited for tickets, of any server
  std::uint8_t within_step = 0;           ///< 1: by flush or epoch, before the step has ended
  template <class A>
  void fields(A& a) {
    a(step, bounds, waited_for_room_ns, waited_for_files_ns, within_step);
  }
};

struct CloseFile {
  static constexpr Kind kind = FromModel::kind<CloseFile>();
  std::uint64_t file = 0;
  std::uint64_t ticket = 0;  ///< TicketDone is sent for it when the file is published
  template <class A>
  void fields(A& a) {
    a(file, ticket);
  }
};

/// Asks for the number of records in the file when it was opened. Answered by FileRecords when
/// known.
struct AskRecords {
  static constexpr Kind kind = FromModel::kind<AskRecords>();
  std::uint64_t file = 0;
  template <class A>
  void fields(A& a) {
    a(file);
  }
};

struct Flush {
  static constexpr Kind kind = FromModel::kind<Flush>();
  std::uint64_t ticket = 0;
  std::uint64_t strings = 0;  ///< number of puts of string variables by this rank on this server so
                              ///< far
  template <class A>
  void fields(A& a) {
    a(ticket, strings);
  }
};

/// Everything that the rank put before belongs to this epoch. Answered by TicketDone when it is
/// durable on the server.
struct EndEpoch {
  static constexpr Kind kind = FromModel::kind<EndEpoch>();
  struct OpenFile {
    std::uint64_t file = 0;
    std::uint64_t records = 0;  ///< the highest record that was put, plus one
    template <class A>
    void fields(A& a) {
      a(file, records);
    }
  };
  std::uint64_t ticket = 0;
  std::uint64_t number = 0;
  std::string name;
  std::uint64_t strings = 0;    ///< as in Flush
  std::vector<OpenFile> files;  ///< those that this server writes
  template <class A>
  void fields(A& a) {
    a(ticket, number, name, strings, files);
  }
};

/// The rank now waits for a ticket; the server reports the missing data if there is no progress.
struct Waiting {
  static constexpr Kind kind = FromModel::kind<Waiting>();
  std::uint64_t ticket = 0;
  template <class A>
  void fields(A& a) {
    a(ticket);
  }
};

struct Finalize {
  static constexpr Kind kind = FromModel::kind<Finalize>();
  template <class A>
  void fields(A&) {}
};

/// The rank ends without finalize.
struct Abandon {
  static constexpr Kind kind = FromModel::kind<Abandon>();
  std::string reason;
  std::optional<Error> cause;         ///< the error that caused it
  bool session_failed = false;        ///< the cause concerns the session, not only this rank
  bool reported = false;              ///< a server or frontend has printed it on stderr
  std::vector<std::uint32_t> lost{};  ///< servers that this rank can no longer reach, ascending
  template <class A>
  void fields(A& a) {
    a(reason, cause, session_failed, reported, lost);
  }
};

/// From a frontend, on behalf of its first rank: the frontend's process ends, and with it the
/// session. This has been printed on stderr.
struct FrontendEnds {
  static constexpr Kind kind = FromModel::kind<FrontendEnds>();
  Error error;
  template <class A>
  void fields(A& a) {
    a(error);
  }
};

// ---- input. A variable's record is read in pieces (model::InputCut); every server reads some of
// them.

/// To all servers.
struct OpenInput {
  static constexpr Kind kind = FromModel::kind<OpenInput>();
  std::uint64_t input = 0;  ///< the session's running number of input files, equal on every rank
  std::string path;
  bool answer = false;  ///< this server is to answer the rank by InputOpened
  template <class A>
  void fields(A& a) {
    a(input, path, answer);
  }
};

/// The rank's part of a variable, for servers that must pack it.
struct InputPart {
  std::int32_t map = -1;   ///< id of a map decomposition; -1: the box
  std::uint32_t list = 0;  ///< for a map: the list of its points, as in InputCells
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  template <class A>
  void fields(A& a) {
    a(map, list, start, count);
  }
};

/// The rank's points of a map in cells that the server reads and has not heard of, before the first
/// request for them. Only if the server must pack the rank's part. Short enough to overtake data,
/// as requests do; long lists are continued in the next message.
struct InputCells {
  static constexpr Kind kind = FromModel::kind<InputCells>();
  /// model::CellPoints in the order of the file; the elements are the numbers of the points.
  struct Cell {
    std::uint32_t cell = 0;
    std::vector<std::uint32_t> within;
    std::vector<std::uint32_t> lengths;
    std::uint64_t repeats = 1;
    std::uint32_t within_step = 0;
    bool continues = false;  ///< entries that follow those of the message before
    template <class A>
    void fields(A& a) {
      a(cell, within, lengths, repeats, within_step, continues);
    }
  };
  std::uint32_t map = 0;            ///< id
  std::uint32_t list = 0;           ///< 0: the points of the rank; otherwise those of one of its endpoints
  std::vector<std::uint64_t> part;  ///< lengths of the cells
  std::vector<Cell> cells;          ///< ascending
  template <class A>
  void fields(A& a) {
    a(map, list, part, cells);
  }
};

/// Pieces that the rank needs. Each is answered by InputPiece, unless it is only prefetched.
struct GetInput {
  static constexpr Kind kind = FromModel::kind<GetInput>();
  std::uint64_t request = 0;  ///< the rank's running number
  std::uint64_t input = 0;
  std::uint32_t variable = 0;  ///< index in the schema of InputOpened
  std::uint64_t record = 0;
  bool ahead = false;                 ///< prefetch
  std::vector<std::uint64_t> pieces;  ///< ascending
  std::optional<InputPart> part;      ///< for ranks without access to the server's memory
  template <class A>
  void fields(A& a) {
    a(request, input, variable, record, ahead, pieces, part);
  }
};

/// The rank has copied its part of a piece from shared memory.
struct InputTaken {
  static constexpr Kind kind = FromModel::kind<InputTaken>();
  std::uint64_t request = 0;
  std::uint64_t piece = 0;
  template <class A>
  void fields(A& a) {
    a(request, piece);
  }
};

/// Answered by InputStrings.
struct GetInputStrings {
  static constexpr Kind kind = FromModel::kind<GetInputStrings>();
  std::uint64_t request = 0;
  std::uint64_t input = 0;
  std::uint32_t variable = 0;
  std::uint64_t record = 0;
  template <class A>
  void fields(A& a) {
    a(request, input, variable, record);
  }
};

struct CloseInput {
  static constexpr Kind kind = FromModel::kind<CloseInput>();
  std::uint64_t input = 0;
  template <class A>
  void fields(A& a) {
    a(input);
  }
};

}  // namespace afterbay::wire

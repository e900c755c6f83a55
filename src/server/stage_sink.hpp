// SPDX-License-Identifier: Apache-2.0
// A sink that lets the values of frames pass the stages of their variables on the way to the file.
#pragma once

#include <memory>

#include "afterbay/schema.hpp"
#include "pipeline/plan.hpp"
#include "server/sink.hpp"

namespace afterbay::server {

/// `handover`: pipeline::handover_layout of `files` and `plan`, which has stages. A worker computes a frame
/// in one scratch buffer: Memory::stage_buffers accounts for them. Frames of variables without stages go to
/// the file as they lie, if the byte order of both layouts is the same.
std::shared_ptr<const Sink> make_stage_sink(std::shared_ptr<const model::FileLayout> files,
                                            std::shared_ptr<const model::HandoverLayout> handover,
                                            const Schema& schema, pipeline::Plan plan);

}  // namespace afterbay::server

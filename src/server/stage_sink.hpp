// SPDX-License-Identifier: Apache-2.0
// A sink that applies the stages of each variable to its values before they are written.
#pragma once

#include <memory>

#include "afterbay/schema.hpp"
#include "pipeline/plan.hpp"
#include "server/sink.hpp"

namespace afterbay::server {

/// `plan` must have stages, and `handover` must be pipeline::handover_layout of `files` and `plan`.
/// A worker needs one scratch buffer per frame, which Memory::writer_buffers includes. Frames of
/// variables without stages are written without a copy if both layouts have the same byte order.
std::shared_ptr<const Sink> make_stage_sink(std::shared_ptr<const model::FileLayout> files,
                                            std::shared_ptr<const model::HandoverLayout> handover,
                                            const Schema& schema, pipeline::Plan plan);

}  // namespace afterbay::server

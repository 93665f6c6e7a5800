// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "snapshot/garbage.hpp"

#include <cstdint>
#include <stop_token>

namespace ponk::engine {

// Call it when the process starts: from then on a clock that is set ahead ends no grace early.
void begin_patience();

// The wall clock, as far as it can be believed.
std::int64_t patient_now();

// `now`: somebody asked for it. What is about to be used has a lease.
enum class CollectWhen { after_grace, now };
// One pass over the object store: what no run and no asset refers to goes, after its grace.
Result<snapshot::GarbageReport>
collect_garbage(const Context& context, CollectWhen when, std::stop_token stop);

// Removes run folders that history does not know and that no process holds, once they are old: a
// crash between making a folder and recording its run leaves one.
Result<std::size_t> remove_stray_folders(const Context& context);

// Removes what clients sent for runs that history does not know any more (their project was
// deleted), once it has known them not for so long: a database that was damaged may come back.
Result<std::size_t> remove_stray_artifacts(const Context& context);

}  // namespace ponk::engine

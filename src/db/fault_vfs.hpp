// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// A file layer of SQLite for tests: passes everything on to the real one and fails when told to.
// One per process.
namespace ponk::db {

constexpr const char* fault_vfs = "ponk-fault";

void register_fault_vfs();

enum class Fault { none, fsync_fails, disk_is_full };
void set_fault(Fault fault);

// Files that were synced since the start of the process: the log, or the database itself.
enum class SyncedFile { log, database };
int count_syncs(SyncedFile what);

// The n-th write or sync from now on does not happen: instead a random part of all writes that were
// not synced is undone in the files, as a power cut would, and the process ends with `exit_code`.
void cut_power_at(int operation, std::uint64_t seed, int exit_code);

}  // namespace ponk::db

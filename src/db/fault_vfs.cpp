// SPDX-License-Identifier: Apache-2.0
#include "db/fault_vfs.hpp"

#include <sqlite3.h>

#include <cstring>
#include <fcntl.h>
#include <list>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace ponk::db {

namespace {

struct Undo {
    sqlite3_int64 offset;
    std::string before;
    sqlite3_int64 size_before;
};

struct Tracked {
    std::string path;
    std::vector<Undo> unsynced;
};

struct Plan {
    Fault fault = Fault::none;
    int operations_left = -1;
    std::uint64_t seed = 0;
    int exit_code = 0;
    std::list<Tracked> files;
    int log_syncs = 0;
    int database_syncs = 0;
};

Plan plan;

// SQLite allocates this followed by room for the real file.
struct File {
    sqlite3_file base;
    Tracked* tracked;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* self(sqlite3_file* file)
{
    return reinterpret_cast<File*>(file);
}

sqlite3_file* real(sqlite3_file* file)
{
    return self(file)->real();
}

[[noreturn]] void cut_power()
{
    std::mt19937_64 random(plan.seed);
    for (auto& file : plan.files) {
        const int fd = ::open(file.path.c_str(), O_RDWR | O_CLOEXEC);
        // Latest first; each may or may not have reached the disk.
        for (auto undo = file.unsynced.rbegin(); fd >= 0 && undo != file.unsynced.rend(); ++undo) {
            if (random() % 2 == 0) continue;
            [[maybe_unused]] auto put =
                ::pwrite(fd, undo->before.data(), undo->before.size(), undo->offset);
            if (random() % 2 == 0) put = ::ftruncate(fd, undo->size_before);
        }
    }
    ::_exit(plan.exit_code);
}

void count()
{
    if (plan.operations_left > 0 && --plan.operations_left == 0) cut_power();
}

void remember(sqlite3_file* file, sqlite3_int64 offset, int size)
{
    sqlite3_int64 length = 0;
    real(file)->pMethods->xFileSize(real(file), &length);
    std::string before(static_cast<std::size_t>(size), '\0');
    real(file)->pMethods->xRead(real(file), before.data(), size, offset);  // short reads give zeros
    self(file)->tracked->unsynced.push_back({offset, std::move(before), length});
}

int do_close(sqlite3_file* file)
{
    return real(file)->pMethods->xClose(real(file));
}
int do_read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset)
{
    return real(file)->pMethods->xRead(real(file), to, size, offset);
}
int do_write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset)
{
    count();
    if (plan.fault == Fault::disk_is_full) return SQLITE_FULL;
    if (plan.operations_left > 0) remember(file, offset, size);
    return real(file)->pMethods->xWrite(real(file), from, size, offset);
}
int do_truncate(sqlite3_file* file, sqlite3_int64 size)
{
    return real(file)->pMethods->xTruncate(real(file), size);
}
int do_sync(sqlite3_file* file, int flags)
{
    count();
    if (plan.fault == Fault::fsync_fails) return SQLITE_IOERR_FSYNC;
    self(file)->tracked->unsynced.clear();
    ++(self(file)->tracked->path.ends_with("-wal") ? plan.log_syncs : plan.database_syncs);
    return real(file)->pMethods->xSync(real(file), flags);
}
int do_size(sqlite3_file* file, sqlite3_int64* size)
{
    return real(file)->pMethods->xFileSize(real(file), size);
}
int do_lock(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}
int do_unlock(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}
int do_check_lock(sqlite3_file* file, int* out)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int do_control(sqlite3_file* file, int operation, void* argument)
{
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int do_sector(sqlite3_file* file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}
int do_traits(sqlite3_file* file)
{
    // No promises about what a power cut leaves of a write.
    return real(file)->pMethods->xDeviceCharacteristics(real(file)) &
           ~SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}
int do_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out)
{
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
int do_shm_lock(sqlite3_file* file, int offset, int n, int flags)
{
    return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}
void do_shm_barrier(sqlite3_file* file)
{
    real(file)->pMethods->xShmBarrier(real(file));
}
int do_shm_unmap(sqlite3_file* file, int remove)
{
    return real(file)->pMethods->xShmUnmap(real(file), remove);
}

const sqlite3_io_methods methods{2,
                                 do_close,
                                 do_read,
                                 do_write,
                                 do_truncate,
                                 do_sync,
                                 do_size,
                                 do_lock,
                                 do_unlock,
                                 do_check_lock,
                                 do_control,
                                 do_sector,
                                 do_traits,
                                 do_shm_map,
                                 do_shm_lock,
                                 do_shm_barrier,
                                 do_shm_unmap,
                                 nullptr,
                                 nullptr};

sqlite3_vfs* underlying = nullptr;

int do_open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags)
{
    const int code = underlying->xOpen(underlying, path, real(file), flags, out_flags);
    if (code != SQLITE_OK) {
        file->pMethods = nullptr;
        return code;
    }
    plan.files.push_back({path ? path : "", {}});
    self(file)->tracked = &plan.files.back();
    file->pMethods = &methods;
    return SQLITE_OK;
}

}  // namespace

void register_fault_vfs()
{
    static sqlite3_vfs vfs = [] {
        underlying = ::sqlite3_vfs_find(nullptr);
        sqlite3_vfs copy = *underlying;
        copy.zName = fault_vfs;
        copy.szOsFile += static_cast<int>(sizeof(File));
        copy.xOpen = do_open;
        copy.pNext = nullptr;
        return copy;
    }();
    plan = {};
    ::sqlite3_vfs_register(&vfs, 0);
}

void set_fault(Fault fault)
{
    plan.fault = fault;
}

int count_syncs(SyncedFile what)
{
    return what == SyncedFile::log ? plan.log_syncs : plan.database_syncs;
}

void cut_power_at(int operation, std::uint64_t seed, int exit_code)
{
    plan.operations_left = operation;
    plan.seed = seed;
    plan.exit_code = exit_code;
}

}  // namespace ponk::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "model/run.hpp"
#include "os/file.hpp"
#include "store/points/pixel_curve.hpp"
#include "store/records.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::store {

using os::Path;

// The history of all runs of one user: a SQLite database in `folder`, of which this object is the
// only writer on the machine.
//
// Safe to call from any thread. Writes happen one after the other, those that come at the same time
// in one commit, and are durable on return unless said otherwise; readers have connections of their
// own, never write and never wait for a writer. After an error nothing of the call was stored.
class History {
public:
    // Opens, or makes, the database. `conflict` when another process has it open; `unavailable`
    // when it was made by a newer version. A damaged file is set aside and replaced by the newest
    // sound backup or an empty database: see `opening()`.
    static Result<std::unique_ptr<History>> open(const Path& folder, Sync sync = Sync::full);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    // What happened on opening.
    [[nodiscard]] const Opening& opening() const noexcept;
    [[nodiscard]] Sync sync() const noexcept;
    // Set once a write met an I/O error: nothing more is written by this object, because what the
    // disk holds is no longer known. Close, and open again.
    [[nodiscard]] std::optional<Error> failure() const;
    // Set once damage was met: closing and opening again sets the database aside and brings back
    // what backups and run directories know.
    [[nodiscard]] bool saw_damage() const noexcept;

    // Runs ------------------------------------------------------------------------------------

    // Stores a new run, gives it the next number of its project and makes the project known. When
    // a run with this id is there, that one is returned unchanged. Its story begins with
    // NotStarted, whatever its state is by now.
    Result<Created> create_run(const model::Run& run);
    // Stores runs found in run directories after a damaged database was replaced: state, number
    // and times as given; ids that are there stay as they are. Returns how many were added.
    Result<std::size_t> import_runs(std::vector<model::Run> runs);

    // `not_found` when absent.
    Result<model::Run> get_run(const RunId& id) const;
    Result<std::optional<model::Run>> find_run(const RunId& id) const;
    // Cheap, for those who wait for a state.
    Result<std::optional<model::RunState>> find_state(const RunId& id) const;
    // A whole id, a unique prefix or suffix of 4 hex digits or more, "last": the newest (of the
    // project when one is given), or the run's number in that project. `not_found`; `conflict`
    // names the candidates, also where one run has that number and another such an id.
    Result<RunId> resolve_run(std::string_view text, std::string_view project = {}) const;
    // Newest first.
    Result<RunPage> list_runs(const RunFilter& filter) const;
    // The runs that pass the search, in its order. Page by page each run that stays as it is comes
    // exactly once, whatever happens to others meanwhile. `invalid_argument` for a `page` that is
    // none of this order.
    Result<FoundRuns> search_runs(const RunSearch& search) const;
    // Every run that has not ended, oldest first.
    Result<std::vector<model::Run>> active_runs() const;

    // Moves the run from `from` to `to` and applies `change` in the same transaction, and appends
    // an event of kind "state". `conflict` when the run is not in `from` or the state machine does
    // not allow the step, so an end is recorded once.
    Result<model::Run> update_state(const RunId& id,
                                    model::RunState from,
                                    model::RunState to,
                                    const RunChange& change = {});
    // The same through several states at once, of which only the last one stays to be seen: all of
    // it is stored in one go.
    Result<model::Run> update_state(const RunId& id,
                                    model::RunState from,
                                    const std::vector<model::RunState>& path,
                                    const RunChange& change = {});
    Result<model::Run> update_run(const RunId& id, const RunChange& change);
    // Replaces the value of a tag; nullopt removes it.
    Result<>
    set_tag(const RunId& id, const std::string& key, const std::optional<std::string>& value);
    // `conflict` while it has not ended.
    Result<> delete_run(const RunId& id);

    // Metrics ---------------------------------------------------------------------------------

    // Stores what a piece of a journal says together with the place up to which it was read.
    // `conflict` when the journal is stored up to another place than `batch.from`: read on from
    // `journal_offset`. Survives a crash of the process at once and a power cut with the next
    // write of a run; until then the journal itself still has the points. Returns how many of its
    // tags were left out, because a run has enough of them.
    Result<std::size_t> record_metrics(const RunId& id, const JournalBatch& batch);
    // Stores points that somebody waits for; on the disk on return. A point that is there already,
    // with the same key, step, time and value, stays one.
    Result<> log_points(const RunId& id, std::span<const model::MetricPoint> points);
    // Points of `log_points` are kept as they came until the run ends or there are many of them;
    // this makes chunks of them now. Nothing that is read changes by it. To be called once in a
    // while.
    Result<> compact_all();
    // From now on points are compacted on a thread of their own, `after` this time: whoever reads
    // pays for what is not in chunks. To be called before other threads use this object.
    void compact_later(std::chrono::milliseconds after);
    // 0 when nothing of it is stored.
    Result<std::uint64_t> journal_offset(const RunId& id, const std::string& journal) const;
    // Sorted by key. The latest is the one of the greatest step, then time, then value, where NaN
    // counts as 0; where a text is among them, then arrival.
    Result<std::vector<LatestMetric>> latest_metrics(const RunId& id,
                                                     const MetricRange& range = {}) const;
    Result<std::int64_t> count_metrics(const RunId& id) const;
    Result<std::optional<LatestMetric>> find_metric(const RunId& id, const std::string& key) const;
    // In order of arrival, behind the first `after` of them; empty when there is no such key.
    Result<std::vector<model::MetricPoint>> metric_points(const RunId& id,
                                                          const std::string& key,
                                                          std::int64_t after,
                                                          std::size_t limit) const;
    Result<std::vector<model::MetricPoint>> metric_series(const RunId& id,
                                                          const std::string& key) const;
    // The same for a picture: of more than `most` points the lowest and the highest of each
    // stretch, and the first and the last. Memory for `most` points, whatever there is.
    Result<std::vector<model::MetricPoint>>
    metric_curve(const RunId& id, const std::string& key, std::size_t most) const;

    // The ends of a key's axis; `relative` counts from its earliest point. Nullopt when the run has
    // no such key.
    Result<std::optional<AxisEnds>>
    metric_ends(const RunId& id, const std::string& key, PixelAxis axis) const;
    // What a picture shows of its numbers, as `PixelCurve` says; points of one x in the order of
    // arrival. A series that did not arrive in the order of x takes 16 bytes for each point.
    Result<std::optional<PixelRows>> metric_pixels(const RunId& id,
                                                   const std::string& key,
                                                   PixelAxis axis,
                                                   const PixelWindow& window,
                                                   double smoothing) const;

    // For MLflow's clients, who know numbers only: texts are left out, and a run or key that is not
    // there has none. A page at a time, ordered by time, step and value; `after` is `next` of the
    // page before or empty. `invalid_argument` when it is neither.
    Result<MetricPage> metric_history(const RunId& id,
                                      const std::string& key,
                                      const std::string& after,
                                      std::size_t limit) const;
    // At most `most` of those in `range`, ordered by step, time and value: of `most` groups of
    // neighbours of the same size the first one each, and the last of all. For pictures; what is
    // not shown is hardly read.
    Result<std::vector<model::MetricPoint>> sampled_history(const RunId& id,
                                                            const std::string& key,
                                                            const std::optional<StepRange>& range,
                                                            std::size_t most) const;

    // Events ----------------------------------------------------------------------------------

    // Returns its number within the run, counted from 1. Durable as metrics are.
    Result<std::int64_t>
    append_event(const RunId& id, const std::string& kind, const std::string& text);
    // Those after number `after`, at most `limit`.
    Result<std::vector<Event>>
    events(const RunId& id, std::int64_t after = 0, std::size_t limit = 1000) const;

    // Projects, assets, settings --------------------------------------------------------------

    Result<> put_project(const Project& project);
    Result<std::vector<ProjectSummary>> projects() const;
    // Those whose folder had this place or this repository, the latest first.
    Result<std::vector<Project>> projects_like(const std::string& place,
                                               const std::string& repository) const;
    Result<std::optional<ProjectSummary>> find_project(const std::string& id) const;
    // As clients know it; empty when there is no such project.
    Result<std::string> experiment_name(const std::string& project) const;
    // The project whose folder is `path`, which is compared as text.
    Result<std::optional<ProjectSummary>> find_project_at(const std::string& path) const;
    // With its runs and assets. `conflict` while one of its runs has not ended.
    Result<> delete_project(const std::string& id);

    // Stores the next version of the asset and returns it with its number.
    Result<Asset> add_asset(const Asset& asset);
    // The newest version of each, by name; or all versions of `name`, newest first.
    Result<std::vector<Asset>> assets(const std::string& project) const;
    Result<std::vector<Asset>> asset_versions(const std::string& project,
                                              const std::string& name) const;
    // All versions; `not_found` when there is none.
    Result<> delete_asset(const std::string& project, const std::string& name);

    Result<std::optional<std::string>> find_setting(const std::string& name) const;
    Result<> put_setting(const std::string& name, const std::string& value);

    // Care ------------------------------------------------------------------------------------

    // Writes a complete copy into the backup folder, keeps the newest few, returns its path.
    Result<Path> make_backup();
    // Writes a complete copy to `destination`, which must not exist.
    Result<> backup_to(const Path& destination) const;
    // The thorough check, minutes on a large file; `damaged` says what was found.
    Result<> check_integrity();
    // When check_integrity last found nothing, in wall-clock milliseconds; 0: never.
    Result<std::int64_t> last_integrity_check() const;
    [[nodiscard]] Sizes sizes() const;

private:
    friend struct HistoryAccess;
    friend class Tracking;
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace ponk::store

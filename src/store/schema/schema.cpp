// SPDX-License-Identifier: Apache-2.0
#include "store/schema/schema.hpp"

extern "C" {
extern const char ponk_store_001_history[];
extern const char ponk_store_001_history_end[];
extern const char ponk_store_002_metric_list[];
extern const char ponk_store_002_metric_list_end[];
extern const char ponk_store_003_gpu[];
extern const char ponk_store_003_gpu_end[];
extern const char ponk_store_004_search[];
extern const char ponk_store_004_search_end[];
extern const char ponk_store_005_tracking[];
extern const char ponk_store_005_tracking_end[];
extern const char ponk_store_006_points[];
extern const char ponk_store_006_points_end[];
extern const char ponk_store_007_models[];
extern const char ponk_store_007_models_end[];
extern const char ponk_store_008_search_orders[];
extern const char ponk_store_008_search_orders_end[];
extern const char ponk_store_009_tail[];
extern const char ponk_store_009_tail_end[];
extern const char ponk_store_010_model_metrics[];
extern const char ponk_store_010_model_metrics_end[];
extern const char ponk_store_011_trace_links[];
extern const char ponk_store_011_trace_links_end[];
extern const char ponk_store_012_parent[];
extern const char ponk_store_012_parent_end[];
extern const char ponk_store_013_home_format[];
extern const char ponk_store_013_home_format_end[];
extern const char ponk_store_014_project_place[];
extern const char ponk_store_014_project_place_end[];
extern const char ponk_store_015_spans[];
extern const char ponk_store_015_spans_end[];
extern const char ponk_store_016_chunk_summaries[];
extern const char ponk_store_016_chunk_summaries_end[];
extern const char ponk_store_017_traces[];
extern const char ponk_store_017_traces_end[];
extern const char ponk_store_018_metric_ranges[];
extern const char ponk_store_018_metric_ranges_end[];
}

namespace ponk::store {

namespace {

constexpr std::int32_t application_id = 0x706f6e6b;  // "ponk"

std::string_view between(const char* begin, const char* end)
{
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

db::Schema history_schema()
{
    return {application_id,
            {between(ponk_store_001_history, ponk_store_001_history_end),
             between(ponk_store_002_metric_list, ponk_store_002_metric_list_end),
             between(ponk_store_003_gpu, ponk_store_003_gpu_end),
             between(ponk_store_004_search, ponk_store_004_search_end),
             between(ponk_store_005_tracking, ponk_store_005_tracking_end),
             between(ponk_store_006_points, ponk_store_006_points_end),
             between(ponk_store_007_models, ponk_store_007_models_end),
             between(ponk_store_008_search_orders, ponk_store_008_search_orders_end),
             between(ponk_store_009_tail, ponk_store_009_tail_end),
             between(ponk_store_010_model_metrics, ponk_store_010_model_metrics_end),
             between(ponk_store_011_trace_links, ponk_store_011_trace_links_end),
             between(ponk_store_012_parent, ponk_store_012_parent_end),
             between(ponk_store_013_home_format, ponk_store_013_home_format_end),
             between(ponk_store_014_project_place, ponk_store_014_project_place_end),
             between(ponk_store_015_spans, ponk_store_015_spans_end),
             between(ponk_store_016_chunk_summaries, ponk_store_016_chunk_summaries_end),
             between(ponk_store_017_traces, ponk_store_017_traces_end),
             between(ponk_store_018_metric_ranges, ponk_store_018_metric_ranges_end)}};
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "config/files/retired.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ponk::config {

namespace {

constexpr std::string_view service_gone = "belonged to the service that was switched off in 2019";
constexpr std::string_view remove_it = "Remove it: ponk provides 'azureml.logging' in every run.";

constexpr Retired packages[] = {
    {"tensorflow-gpu",
     "was withdrawn from PyPI in 2022",
     "Use 'tensorflow[and-cuda]' (pip), or 'tensorflow' from conda-forge.",
     "tensorflow[and-cuda]"},
    {"tf-nightly-gpu",
     "was withdrawn from PyPI",
     "Use 'tf-nightly[and-cuda]'.",
     "tf-nightly[and-cuda]"},
    {"keras-gpu",
     "exists in old conda channels only and is no longer built",
     "Use 'keras' together with a 'tensorflow' that has GPU support.",
     "keras"},
    {"cntk",
     "is no longer developed; its last wheels are for Python 3.6",
     "Run saved models with 'onnxruntime'; train with PyTorch or TensorFlow."},
    {"cntk-gpu",
     "is no longer developed; its last wheels are for Python 3.6",
     "Run saved models with 'onnxruntime-gpu'; train with PyTorch or TensorFlow."},
    {"azureml-requirements", service_gone, remove_it, Retired::nothing},
    {"azureml-assets", service_gone, remove_it, Retired::nothing},
    {"azureml-datacollector", service_gone, remove_it, Retired::nothing},
    {"azureml-pyrecipes-dataframe", service_gone, remove_it, Retired::nothing},
    {"azureml-model-management-sdk", service_gone, remove_it, Retired::nothing},
    {"azureml-tatk",
     service_gone,
     "Remove it, or use 'transformers' or 'spacy'.",
     Retired::nothing},
    {"azure-mgmt-batchai", service_gone, "Remove it.", Retired::nothing},
    {"azure",
     "refuses to be installed since version 5",
     "Use the packages that you need, such as 'azure-storage-blob'."},
    {"azure-storage",
     "was split up in 2018",
     "Use 'azure-storage-blob', 'azure-storage-file-share' or 'azure-storage-queue'.",
     "azure-storage-blob"},
    {"azure-storage-file",
     "was renamed",
     "Use 'azure-storage-file-share'.",
     "azure-storage-file-share",
     true},
    {"fix-yahoo-finance", "was renamed", "Use 'yfinance'.", "yfinance"},
    {"futures",
     "is the Python 2 copy of a standard module and does not install on Python 3",
     "Remove it: 'concurrent.futures' is part of Python 3.",
     Retired::nothing},
    {"ggplot", "is abandoned and fails with pandas newer than 0.24", "Use 'plotnine'.", "plotnine"},
    {"spark-sklearn", "is archived", "Use 'joblibspark'.", "joblibspark"},
    {"h2o-pysparkling-2-2",
     "is for Spark 2.2 only",
     "Use the package for your Spark version.",
     {},
     true},
    {"revoscalepy",
     "was never on PyPI and its server is gone",
     "Use 'scikit-learn'.",
     "scikit-learn"},
    {"microsoftml",
     "was never on PyPI and its server is gone",
     "Use 'scikit-learn'.",
     "scikit-learn"},
    {"mmlspark", "was renamed", "Use 'synapseml'.", "synapseml"},
    {"dltk", "is archived and needs TensorFlow 1", "Use 'monai'.", "monai"},
};

constexpr Retired images[] = {
    {"microsoft/mmlspark",
     "was removed from the registry",
     "Use an image with Python (and CUDA for a GPU), or remove the key: ponk then uses its default "
     "image."},
    {"mcr.microsoft.com/azureml/base:0.",
     "is a preview image of 2018 that no longer exists",
     "Use a current image with Python, or remove the key."},
    {"mcr.microsoft.com/azureml/base-gpu:0.",
     "is a preview image of 2018 that no longer exists",
     "Use a current image with CUDA and Python."},
};

constexpr Retired hosts[] = {
    {"azuremldownloads.blob.core.windows.net",
     "no longer serves this file",
     remove_it,
     Retired::nothing},
    {"azuremldownloads.azureedge.net", "no longer exists", remove_it, Retired::nothing},
    {"azuremlsdktestpypi.azureedge.net",
     "no longer exists",
     "Remove the line: PyPI is enough.",
     Retired::nothing},
    {"runhistorycurrentwestus.blob.core.windows.net",
     "no longer serves this file",
     remove_it,
     Retired::nothing},
    {"aztatksa.file.core.windows.net",
     "no longer serves this file",
     "Remove the line.",
     Retired::nothing},
    {"azuremlbuild.blob.core.windows.net",
     "no longer serves these packages",
     "Remove the line.",
     Retired::nothing},
    {"rserverdistribution.azureedge.net", "no longer exists", "Use 'scikit-learn' instead."},
    {"mmlspark.azureedge.net",
     "no longer exists",
     "Its successor SynapseML is on Maven Central: remove the line."},
    {"cntk.ai",
     "no longer serves wheels",
     "PyPI has 'cntk' 2.7 for Python 3.6 and older; it is no longer developed."},
    {"dl.bintray.com", "was switched off in 2021", "Use 'https://repos.spark-packages.org'."},
    {"spark-packages.org",
     "is a catalogue, not a repository",
     "Use 'https://repos.spark-packages.org'."},
};

constexpr Retired spark_packages[] = {
    {"com.microsoft.ml.spark:mmlspark",
     "was renamed and moved",
     "Use 'com.microsoft.azure:synapseml_2.12' with Spark 3.",
     "com.microsoft.azure:synapseml_2.12:1.0.4",
     false,
     "mmlspark"},
    {"com.microsoft:dprep", service_gone, "Remove it."},
    {"com.microsoft.azureml:azureml-sdk", service_gone, "Remove it."},
    {"databricks:spark-sklearn",
     "is archived",
     "Remove it and use 'joblibspark' from PyPI.",
     {},
     false,
     "spark_sklearn"},
};

// Sorted: searched by halves.
constexpr std::array<std::string_view, 60> standard_modules{
    "argparse",  "array",       "ast",        "asyncio",    "base64",   "bisect",
    "codecs",    "collections", "concurrent", "contextlib", "copy",     "csv",
    "ctypes",    "datetime",    "decimal",    "difflib",    "fnmatch",  "fractions",
    "functools", "gc",          "getopt",     "getpass",    "glob",     "gzip",
    "hashlib",   "heapq",       "html",       "http",       "inspect",  "io",
    "itertools", "json",        "locale",     "logging",    "math",     "multiprocessing",
    "operator",  "os",          "pathlib",    "pickle",     "platform", "pprint",
    "queue",     "random",      "re",         "shutil",     "signal",   "socket",
    "sqlite3",   "string",      "struct",     "subprocess", "sys",      "tempfile",
    "threading", "time",        "traceback",  "urllib",     "warnings", "zipfile"};
static_assert(std::is_sorted(standard_modules.begin(), standard_modules.end()));

template <std::size_t Count>
const Retired* find_by_name(const Retired (&table)[Count], std::string_view name)
{
    const auto* found = std::find_if(std::begin(table), std::end(table), [&](const Retired& entry) {
        return entry.name == name;
    });
    return found == std::end(table) ? nullptr : found;
}

template <std::size_t Count>
const Retired* find_by_start(const Retired (&table)[Count], std::string_view name)
{
    const auto* found = std::find_if(std::begin(table), std::end(table), [&](const Retired& entry) {
        return name.starts_with(entry.name);
    });
    return found == std::end(table) ? nullptr : found;
}

}  // namespace

const Retired* find_retired_package(std::string_view name)
{
    return find_by_name(packages, name);
}

const Retired* find_retired_image(std::string_view image)
{
    return find_by_start(images, image);
}

const Retired* find_retired_host(std::string_view url)
{
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return nullptr;
    const auto rest = url.substr(scheme + 3);
    return find_by_name(hosts, rest.substr(0, rest.find_first_of("/?#:")));
}

const Retired* find_retired_spark_package(std::string_view coordinate)
{
    return find_by_start(spark_packages, coordinate);
}

bool is_standard_module(std::string_view name)
{
    return std::binary_search(standard_modules.begin(), standard_modules.end(), name);
}

std::string_view distribution_for_import(std::string_view name)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> renamed{{
        {"sklearn", "scikit-learn"},
        {"cv2", "opencv-python"},
        {"opencv", "opencv-python"},
        {"pil", "pillow"},
        {"skimage", "scikit-image"},
        {"yaml", "pyyaml"},
        {"dateutil", "python-dateutil"},
    }};
    for (const auto& [import, distribution] : renamed) {
        if (import == name) return distribution;
    }
    return {};
}

}  // namespace ponk::config

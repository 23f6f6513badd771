"""The one list of numbers and facts we show: key, label, unit, direction, meaning, source.

A key has one spelling in code, CSV and tables. Pages take every label and hover text from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal[
    "seconds",
    "bytes",
    "count",
    "ratio",
    "fraction",
    "bytes_per_second",
    "flops_per_second",
    "error",
    "text",
    "flag",
    "hertz",
]
Direction = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One number or fact: what it is called, its unit, which direction is good, what it means, where that comes from.

    `is_per_workload`: a child that measured several workloads holds a list, one value per workload.
    """

    key: str
    label: str
    unit: Unit
    better: Direction = "neither"
    meaning: str
    source: str = ""
    is_per_workload: bool = False


def _by_key(*metrics: Metric) -> dict[str, Metric]:
    return {metric.key: metric for metric in metrics}


TIMES = _by_key(
    Metric(key="latency_s", label="Latency", unit="seconds", better="lower", meaning="Time a caller waits for one answer: one forward pass on one batch, device synchronised before and after.", source="METHOD 1.1"),
    Metric(key="median_s", label="Median latency", unit="seconds", better="lower", meaning="Half of the timed calls were faster than this."),
    Metric(key="host_s", label="Host time", unit="seconds", better="lower", meaning="Time until the call returned to Python, before waiting for the device: launch cost.", source="METHOD 1.1"),
    Metric(key="gpu_s", label="GPU time", unit="seconds", better="lower", meaning="Time the GPU worked, with all launches queued beforehand: what is left if launching were free.", source="METHOD 1.1"),
    Metric(key="throughput_s", label="Time per call, back to back", unit="seconds", better="lower", meaning="Many calls without waiting in between, divided by their number: what a batch server sees."),
    Metric(key="load_s", label="Load", unit="seconds", better="lower", meaning="Loading the model and moving it to the device."),
    Metric(key="first_call_s", label="First call", unit="seconds", better="lower", meaning="The first call after the technique was applied, compilation included."),
    Metric(key="compile_s", label="Compile time", unit="seconds", better="lower", meaning="Time torch spent compiling, by its own compilation metrics."),
    Metric(key="autotune_s", label="Autotune time", unit="seconds", better="lower", meaning="Time torch spent timing candidate kernels, part of the compile time."),
    Metric(key="cold_start_s", label="Cold start", unit="seconds", better="lower", meaning="Set-up beyond what the same number of steady calls would take: first calls minus steady calls.", source="METHOD 1.3"),
    Metric(key="p95_s", label="95th percentile", unit="seconds", better="lower", meaning="1 of 20 calls took longer. Worth reading from 200 timed calls on; fewer are marked.", source="order statistics, METHOD 1.6"),
    Metric(key="p99_s", label="99th percentile", unit="seconds", better="lower", meaning="1 of 100 calls took longer. Worth reading from 1,000 timed calls on; fewer are marked.", source="order statistics, METHOD 1.6"),
    Metric(key="iqr_s", label="Interquartile range", unit="seconds", better="lower", meaning="Spread of the middle half of the timed calls."),
    Metric(key="empty_s", label="Timing nothing", unit="seconds", meaning="What the stopwatch itself costs: an empty function between two clock readings. Part of every time shown, never subtracted.", source="METHOD 1.1"),
    Metric(key="synchronize_s", label="Timing nothing, device synchronised", unit="seconds", meaning="The same with the device's synchronise before the second reading, as every call is timed. Never subtracted.", source="METHOD 1.1"),
)  # fmt: skip

RATIOS = _by_key(
    Metric(key="speedup", label="Speed-up", unit="ratio", better="higher", meaning="How many times faster than the baseline: exp of the mean over process sets of the median over rounds of ln(baseline block / block).", source="METHOD 1.6"),
    Metric(key="break_even_calls", label="Pays back after", unit="count", better="lower", meaning="Calls after which the set-up time has been earned back."),
    Metric(key="bytes_per_s", label="Moved per second", unit="bytes_per_second", better="higher", meaning="What one call reads and writes, intermediate results included, over its median.", source="METHOD 2.7"),
    Metric(key="bandwidth_share", label="Share of the measured bandwidth", unit="fraction", better="higher", meaning="Bytes moved per second over the memory bandwidth measured in the same run. Above 100 % data comes from caches, or memory was faster than when it was measured.", source="METHOD 2.7"),
    Metric(key="raw_change", label="Change while timing", unit="fraction", meaning="Median of the last tenth of a process set's calls over that of its first tenth, minus 1; of the set where it is largest. Slowing that hits all variants alike leaves the speed-up as it is: information, no verdict.", source="METHOD 1.3"),
)  # fmt: skip

MEMORY = _by_key(
    Metric(key="peak_allocated_bytes", label="Peak allocated", unit="bytes", better="lower", meaning="Highest memory held by tensors on the GPU while measuring. Undercounts CUDA graphs."),
    Metric(key="peak_reserved_bytes", label="Peak reserved", unit="bytes", better="lower", meaning="Highest memory the caching allocator held from the GPU while measuring, private pools of CUDA graphs included."),
    Metric(key="private_pool_bytes", label="Private pools", unit="bytes", better="lower", meaning="Memory reserved by CUDA graphs for themselves."),
    Metric(key="whole_life_peak_reserved_bytes", label="Peak reserved, set-up included", unit="bytes", better="lower", meaning="Highest reserved GPU memory over the whole life of the process, compilation and tuning included."),
    Metric(key="device_used_bytes", label="Device memory in use", unit="bytes", better="lower", meaning="What the driver says this process holds, context and libraries included."),
    Metric(key="peak_process_bytes", label="Peak process memory", unit="bytes", better="lower", meaning="Highest resident memory of the measured process while measuring (VmHWM).", source="METHOD 1.9"),
    Metric(key="whole_life_peak_process_bytes", label="Peak process memory, set-up included", unit="bytes", better="lower", meaning="Highest resident memory of the measured process over its whole life, compilation included."),
)  # fmt: skip

FACTS = _by_key(
    Metric(key="model_note", label="Origin of the weights", unit="text", meaning="Where the weights came from; random weights give valid times and meaningless outputs."),
    Metric(key="attention", label="Attention", unit="text", meaning="Attention implementation, the same in every arm."),
    Metric(key="threads", label="Threads", unit="count", meaning="CPU threads torch used."),
    Metric(key="cpus_allowed", label="CPUs allowed", unit="count", meaning="CPUs the process could run on, read after torch was imported."),
    Metric(key="grad_mode", label="Gradients", unit="text", meaning="Gradient mode while warming up and while timing; it must be the same for all arms."),
    Metric(key="matmul_precision", label="Matmul precision", unit="text", meaning="What float32 matrix products may use internally, read when timing was over; the same in every arm that is not a precision variant."),
    Metric(key="frames_compiled", label="Frames compiled", unit="count", meaning="Python frames that TorchDynamo turned into graphs."),
    Metric(key="frames_seen", label="Frames seen", unit="count", meaning="Python frames TorchDynamo tried to compile; more than were compiled means some ran eagerly."),
    Metric(key="graphs", label="Graphs", unit="count", meaning="Different graphs compiled."),
    Metric(key="graph_breaks", label="Graph breaks", unit="count", better="lower", meaning="Places where the trace stopped and Python took over."),
    Metric(key="graph_break_reasons", label="Why the graph broke", unit="text", meaning="TorchDynamo's own words."),
    Metric(key="recompiles_while_timing", label="Recompiles while timing", unit="count", better="lower", meaning="Graphs compiled after warm-up; anything but 0 spoils the times."),
    Metric(key="recompile_reasons", label="Why it recompiled", unit="text", meaning="The guard that failed, in TorchDynamo's own words."),
    Metric(key="recompile_limit_hit", label="Recompile limit reached", unit="flag", meaning="After the limit, new shapes silently run eagerly."),
    Metric(key="generated_kernels", label="Generated kernels", unit="count", meaning="Kernels TorchInductor generated."),
    Metric(key="inductor_settings", label="Changed compiler settings", unit="text", meaning="Settings of TorchInductor that differed from its defaults in this process when timing was over. What a mode sets while it compiles is not among them."),
    Metric(key="fxgraph_cache_hits", label="Graph cache hits", unit="count", meaning="Graphs taken from the compile cache."),
    Metric(key="fxgraph_cache_misses", label="Graph cache misses", unit="count", meaning="Graphs compiled because the cache did not have them."),
    Metric(key="fxgraph_cache_bypasses", label="Graph cache bypasses", unit="count", meaning="Graphs that cannot be cached, as with freezing."),
    Metric(key="autograd_cache_hits", label="Autograd cache hits", unit="count", meaning="Traced graphs taken from the cache."),
    Metric(key="autograd_cache_misses", label="Autograd cache misses", unit="count", meaning="Traced graphs not in the cache."),
    Metric(key="device", label="Device", unit="text", meaning="The device the work ran on, as torch calls it."),
    Metric(key="graphs_recorded_while_timing", label="CUDA graphs recorded while timing", unit="count", better="lower", meaning="Recordings after warm-up; anything but 0 spoils the times."),
    Metric(key="cudagraph_skips", label="CUDA graphs skipped", unit="count", better="lower", meaning="Times torch gave up on a CUDA graph. 0 alone does not prove that one was used.", source="METHOD 0.3"),
    Metric(key="cudagraph_skip_reasons", label="Why CUDA graphs were skipped", unit="text", meaning="Torch's own words."),
    Metric(key="cudagraph_partitions", label="Graph partitions", unit="count", meaning="Pieces the graph was cut into; work between pieces runs outside CUDA graphs."),
    Metric(key="cudagraph_copied_inputs", label="Inputs copied per recording", unit="count", better="lower", meaning="Inputs that move between calls and are copied to a fixed place before each replay."),
    Metric(key="cudagraph_nodes", label="CUDA graphs recorded", unit="count", meaning="Recorded graphs in torch's graph trees: the positive proof.", source="METHOD 2.3"),
    Metric(key="cudagraph_nodes_before_timing", label="CUDA graphs recorded before timing", unit="count", meaning="The same count when warm-up was over."),
    Metric(key="cudagraph_rerecords", label="CUDA graphs recorded again", unit="count", better="lower", meaning="Recordings that replaced an earlier one, as when an input moved."),
    Metric(key="operators_per_call", label="Operators per call", unit="count", better="lower", meaning="PyTorch operators one call runs, by torch's profiler in a pass of its own; generated kernels are not operators.", is_per_workload=True),
    Metric(key="kernels_per_call", label="Kernels per call", unit="count", better="lower", meaning="GPU kernels one call runs, by torch's profiler in a pass of its own.", is_per_workload=True),
    Metric(key="kernel_names", label="Kernels by name", unit="text", meaning="How often one call ran each GPU kernel, by torch's profiler: which candidate of the tuner really runs is read from here.", source="METHOD 2.4", is_per_workload=True),
    Metric(key="gpu_busy_s_per_call", label="GPU busy per call", unit="seconds", better="lower", meaning="Time in which the GPU ran a kernel or a copy for one call, by torch's profiler, overlapping work counted once. It stands for the GPU time where a call waits for the GPU itself and its launches cannot be queued.", source="METHOD 1.1", is_per_workload=True),
    Metric(key="kernel_launches_per_call", label="Kernel launches per call", unit="count", better="lower", meaning="Kernels the CPU started one by one; near 0 when a CUDA graph starts them all.", is_per_workload=True),
    Metric(key="graph_launches_per_call", label="Graph launches per call", unit="count", meaning="CUDA graphs replayed per call, by torch's profiler: at least 1 when they are really used.", is_per_workload=True),
    Metric(key="allocations_per_call", label="Allocations per call", unit="count", better="lower", meaning="Pieces of memory one call asks for, by torch's profiler on a CPU and its allocator's statistics on a GPU.", source="METHOD 2.6", is_per_workload=True),
    Metric(key="allocated_bytes_per_call", label="Allocated per call", unit="bytes", better="lower", meaning="Bytes one call asks for; of numpy, the most it held at once, by tracemalloc.", source="METHOD 2.6", is_per_workload=True),
    Metric(key="page_faults_per_call", label="Page faults per call", unit="count", better="lower", meaning="Pages the operating system had to find and clear while one call ran: fresh memory that nobody had touched yet.", source="getrusage, ru_minflt", is_per_workload=True),
    Metric(key="device_allocations_per_call", label="Device allocations per call", unit="count", better="lower", meaning="Times one call had to ask the GPU's driver for memory, by torch's profiler; 0 when the caching allocator had it already.", is_per_workload=True),
    Metric(key="inputs_stay", label="Inputs stay in place", unit="flag", meaning="Whether the model found its inputs at the same addresses in two calls, when all else was measured."),
    Metric(key="outputs_stay", label="Answers stay in place", unit="flag", meaning="Whether two calls left their answers at the same addresses, the first still held."),
    Metric(key="requests_pinned", label="Requests in page-locked memory", unit="flag", meaning="Whether every request lay in memory that the GPU can copy from by itself."),
    Metric(key="fragmentation_cache", label="Cached and unused (F_cache)", unit="fraction", meaning="1 - allocated / reserved: memory the allocator keeps ready. Healthy cache is in here too; this is not fragmentation.", source="METHOD 2.6"),
    Metric(key="fragmentation_split", label="Split and stuck (F_split)", unit="fraction", better="lower", meaning="Inactive parts of split blocks / reserved: memory that can neither be used whole nor be given back. The closest to external fragmentation.", source="METHOD 2.6"),
    Metric(key="fragmentation_round", label="Rounded up (F_round)", unit="fraction", better="lower", meaning="1 - requested / allocated bytes: what rounding sizes up costs, internal fragmentation.", source="METHOD 2.6"),
    Metric(key="fragmentation_peak", label="Peak against peak (F_peak)", unit="fraction", better="lower", meaning="1 - peak active / peak reserved, as allocator papers have it; the two peaks may be at different moments.", source="METHOD 2.6"),
    Metric(key="out_of_memory_events", label="Out of memory", unit="count", better="lower", meaning="Times an allocation failed for good."),
    Metric(key="allocation_retries", label="Allocation retries", unit="count", better="lower", meaning="Times the allocator had to give its cache back and ask the driver again."),
    Metric(key="largest_allocation_bytes", label="Largest allocation that succeeds", unit="bytes", better="higher", meaning="Found by trying, when all else was measured: the operational test of fragmentation. Arms that have not ended yet still hold their memory then."),
    Metric(key="allocator", label="Allocator", unit="text", meaning="What this process really allocated GPU memory with."),
    Metric(key="value_note", label="Integer inputs", unit="text", meaning="What the plain expression and the fused operator make of ones and the value 0.5."),
    Metric(key="model_type", label="Architecture", unit="text", meaning="The model's family, as its configuration names it."),
    Metric(key="num_layers", label="Layers", unit="count", meaning="Transformer layers, from the model's configuration."),
    Metric(key="hidden_size", label="Hidden size", unit="count", meaning="Width of the model, from its configuration."),
    Metric(key="intermediate_size", label="Feed-forward size", unit="count", meaning="Width of the feed-forward layers, from the model's configuration."),
    Metric(key="parameter_bytes", label="Size of the weights", unit="bytes", meaning="Size of all parameters as they were used."),
    Metric(key="minimum_bytes", label="Least traffic", unit="bytes", meaning="Inputs and outputs touched once, one number per workload: no implementation can move less.", is_per_workload=True),
    Metric(key="footprint_bytes", label="Memory touched", unit="bytes", meaning="Inputs and outputs, memory that is both counted once: below four last-level caches it may all stand in them.", is_per_workload=True),
    Metric(key="captured_graphs", label="Graphs captured by hand", unit="count", meaning="CUDA graphs this variant captured itself; the compiler's trees do not know them."),
    Metric(key="autotune_operations", label="What was tuned", unit="text", meaning="Each operation with the candidates tried for it and their times, from the tuner's own feedback."),
    Metric(key="multiprocessors", label="Multiprocessors", unit="count", meaning="Of the GPU that was tuned for. Torch considers its matrix templates from 68 on.", source="torch._inductor.utils.is_big_gpu"),
    Metric(key="candidates_tried", label="Candidates tried", unit="count", meaning="Kernels the tuner timed in this process, over all operations. 0 in later process sets means the tuning was cached."),
    Metric(key="autotuned_operations", label="Operations tuned", unit="count", meaning="Different operations the tuner timed candidates for."),
    Metric(key="precompiled_candidates", label="Candidates compiled ahead", unit="count", meaning="Candidates compiled before they were timed."),
    Metric(key="generated_gemms", label="Generated matrix products", unit="count", meaning="Matrix products that run in a kernel generated from a template instead of a library."),
    Metric(key="fused_epilogues", label="Fused epilogues", unit="count", meaning="Operations fused into a generated matrix product."),
    Metric(key="request_graphs", label="Graphs for the requests", unit="count", better="lower", meaning="Different graphs compiled while the request stream was answered, by a compiler that started afresh."),
    Metric(key="requests_that_compiled", label="Requests that stalled", unit="text", meaning="Which requests of the stream, counted from 1, waited for a compilation or a recording."),
    Metric(key="request_limit_hit", label="Recompile limit reached by the requests", unit="flag", meaning="From then on requests of new lengths ran eagerly."),
    Metric(key="requests_failed", label="Why the requests were not answered", unit="text", meaning="The stream comes last; what was measured before stands."),
    Metric(key="mistaken_loops", label="What mistaken loops reported", unit="text", meaning="Seconds per call by each loop of the Pitfalls page that this process ran when all else was measured, and of what the loop compared with.", source="METHOD 3"),
    Metric(key="runtime", label="Runtime", unit="text", meaning="The engine that ran the exported model, with its version."),
    Metric(key="runtime_threads", label="Runtime's threads", unit="count", meaning="CPU threads that engine was told to use; the other arms use as many."),
    Metric(key="runtime_devices", label="Runtime's devices", unit="text", meaning="Where that engine says it ran."),
)  # fmt: skip

METRICS: dict[str, Metric] = {**TIMES, **RATIOS, **MEMORY, **FACTS}

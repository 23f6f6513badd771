"""The mistaken loops of the Pitfalls page: shown as they stand here, and run as they stand here.

`model`, `inputs` (tensors by name), `synchronize` and `torch` are there before; each loop leaves seconds per call in
`reported_s`, of those it compares with in `baseline_s`, and words about what else it saw in `note`. One mistake each.
"""

REMEMBERING_CODE = '''\
def remembering(model):
    """The model behind a memory of one answer, as some layer of a real stack may well be."""
    asked, answers = {}, []

    def served(**inputs):
        if not answers or any(not torch.equal(inputs[name], asked[name]) for name in inputs):
            asked.update({name: value.clone() for name, value in inputs.items()})
            answers[:] = [model(**inputs)]
        return answers[0]

    return served
'''

_CLOCK = "import time\n"
_TIMED = """\
import time

def seconds_per_call(run):
    start = time.perf_counter()
    for _ in range(100):
        run(**inputs)
        synchronize()
    return (time.perf_counter() - start) / 100
"""

FIRST_CALL = f"""\
{_TIMED}
with torch.inference_mode():
    for _ in range(3):
        model(**inputs)
    baseline_s = seconds_per_call(model)
    reported_s = seconds_per_call(torch.compile(model))  # the first of these calls compiles
"""

NO_SYNCHRONISE = f"""\
{_TIMED.replace("        synchronize()" + chr(10), "")}
replayed = torch.compile(model, mode="reduce-overhead")  # CUDA graphs

with torch.inference_mode():
    for _ in range(5):
        model(**inputs), replayed(**inputs)
    synchronize()
    baseline_s = seconds_per_call(model)  # started, not finished
    reported_s = seconds_per_call(replayed)
"""

WALL_CLOCK = f"""\
{_CLOCK}
corrected_s = 0.0

def wall_clock():  # time.time() of a machine whose clock is corrected meanwhile
    return time.time() + corrected_s

with torch.inference_mode():
    for _ in range(3):
        model(**inputs)
    start = wall_clock()
    for call in range(100):
        if call == 50:
            corrected_s = 0.128  # injected by us: ntpd steps a clock that is off by this much or more
        model(**inputs)
        synchronize()
reported_s = (wall_clock() - start) / 100

can_jump = {{name: time.get_clock_info(name).adjustable for name in ("time", "perf_counter")}}
note = "This Python says which clocks can be set while they run: " + ", ".join(
    f"{{name}} {{'can' if can else 'cannot'}}" for name, can in can_jump.items()) + "."
"""

MEAN = f"""\
import gc
import statistics
{_CLOCK}
samples = []
with torch.inference_mode():
    for _ in range(3):
        model(**inputs)
    for call in range(100):
        start = time.perf_counter()
        if call == 50:
            gc.collect()  # injected by us: Python does this by itself whenever enough objects were made
        model(**inputs)
        synchronize()
        samples.append(time.perf_counter() - start)
reported_s = statistics.mean(samples)

note = (f"The slowest of these 100 calls took {{max(samples) * 1e3:.1f}} ms; "
        f"the median of the very same calls is {{statistics.median(samples) * 1e3:.2f}} ms.")
"""

A_THEN_B = f"""\
{_TIMED}
with torch.inference_mode():
    for _ in range(3):
        model(**inputs)
    baseline_s = seconds_per_call(model)  # A
    reported_s = seconds_per_call(model)  # B: the same thing, some seconds later
"""

ONE_PROCESS = f"""\
import statistics
{_CLOCK}
def seconds_of_one_call(run):
    start = time.perf_counter()
    run(**inputs)
    synchronize()
    return time.perf_counter() - start

compiled = torch.compile(model)
eager_s, compiled_s = [], []
with torch.inference_mode():
    for _ in range(3):
        model(**inputs), compiled(**inputs)
    for _ in range(100):  # in turns, warm, by the median: everything right but that this process is the only one
        eager_s.append(seconds_of_one_call(model))
        compiled_s.append(seconds_of_one_call(compiled))
baseline_s, reported_s = statistics.median(eager_s), statistics.median(compiled_s)
"""

CONSTANT_INPUT = f"""\
{_TIMED}
{REMEMBERING_CODE}
served = remembering(model)
with torch.inference_mode():
    for _ in range(3):
        model(**inputs)
    baseline_s = seconds_per_call(model)
    reported_s = seconds_per_call(served)  # one sentence, a hundred times
"""

WORK_LEFT = f"""\
import numpy as np
{_CLOCK}
x = inputs["x"]  # (1000, 512)
start = time.perf_counter()
for _ in range(100):
    w = np.random.rand(512, 3)  # the article draws new weights inside the timer
    np.dot(x, w)
reported_s = (time.perf_counter() - start) / 100
"""

GRADIENTS = f"""\
{_CLOCK}
model.requires_grad_(True)  # as from_pretrained leaves a model
for _ in range(3):
    model(**inputs)
start = time.perf_counter()
for _ in range(100):
    model(**inputs)  # no inference_mode, no no_grad: every operation is recorded for a backward pass
    synchronize()
reported_s = (time.perf_counter() - start) / 100
"""

UNFAIR = f"""\
{_TIMED}
def compute_in(dtype):
    model.to(dtype)
    for name, value in inputs.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            inputs[name] = value.to(dtype)

with torch.inference_mode():
    compute_in(torch.float32)
    for _ in range(3):
        model(**inputs)
    baseline_s = seconds_per_call(model)  # eager, float32

    compute_in(torch.bfloat16)
    compiled = torch.compile(model)
    for _ in range(3):
        compiled(**inputs)
    reported_s = seconds_per_call(compiled)  # compiled, bfloat16: two changes, one number
"""

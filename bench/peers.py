#!/usr/bin/env python3
"""Compares a training step of posttrain with the same step in PyTorch, on this machine, in turns.

Development only: nothing that is built or run needs Python. `make bench-peers` makes a virtual environment outside
the tree and starts this; arguments go in PEERS_ARGS. Standard library and torch.

One step is, on both sides: a batch of byte ids copied in, forward, mean cross-entropy, backward, gradient norm and
clipping at 1.0, AdamW with decay on matrices only, and the loss read back. Each side keeps running in its own process
with the same number of threads and takes a block of steps when told to, while the other sleeps: A B A B …, in an
order that changes each round, so that load from elsewhere meets all of them. f32 is compared with f32, bf16 autocast with
bf16 activations. Three ratios torch / posttrain are given:
  median  over rounds, of the mean times of a step in the same round: what a user feels, other load included
  best    of the fastest single steps: what the machine gives when it is left alone for a moment
  cpu     of processor seconds, with one thread only: other load hardly touches it
On a busy machine the median with several threads says more about how each waits for its threads than about its
kernels: OpenMP spins at barriers. Then best is the one to quote.
"""
import argparse, datetime, json, os, platform, statistics, subprocess, sys, time

from page import put_in_page

SIZES = {  # layers, width, heads, window, vocabulary, windows per step, tanh form of gelu; as model/config.c
    "tiny": (2, 48, 3, 32, 256, 16, False),
    "small": (3, 96, 3, 64, 256, 16, False),
    "medium": (4, 128, 4, 96, 256, 16, False),
    "reference": (4, 128, 4, 128, 256, 16, False),
    "large": (6, 192, 6, 128, 256, 12, False),
    "xl": (8, 256, 8, 128, 256, 8, False),
    "gpt2": (12, 768, 12, 64, 50257, 4, True),
}
POSITIONS = {"gpt2": 1024}
VARIANTS = {"eager f32": (False, False), "compiled f32": (True, False),
            "eager bf16": (False, True), "compiled bf16": (True, True)}
# What a user may have set to steer libraries on this machine must not hold the rival back.
STEERING = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MKL_DEBUG_CPU_TYPE",
            "MKL_ENABLE_INSTRUCTIONS", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY",
            "KMP_AFFINITY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_PROC_BIND", "TORCH_COMPILE_DISABLE")


def step_flop(size):
    """As pt_bench_step_flop in src/bench/bench.h."""
    L, C, _, T, V, B, _ = SIZES[size]
    return 6 * B * T * (L * 12 * C * C + C * V) + 6 * B * L * C * T * (T + 1)


# ---- the rival, in a process of its own ----

def torch_model(size):
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    L, C, H, T, V, _, tanh = SIZES[size]
    gelu = "tanh" if tanh else "none"

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(C), nn.LayerNorm(C)
            self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)
            self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

        def forward(self, x):
            B, T, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(a.transpose(1, 2).reshape(B, T, C))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate=gelu))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(V, C), nn.Embedding(POSITIONS.get(size, T), C)
            self.blocks = nn.ModuleList(Block() for _ in range(L))
            self.norm = nn.LayerNorm(C)
            for name, p in self.named_parameters():
                if p.dim() == 2:
                    nn.init.normal_(p, std=0.02)
            self.register_buffer("index", torch.arange(T), persistent=False)

        def forward(self, ids, targets):
            x = self.token(ids) + self.position(self.index)
            for block in self.blocks:
                x = block(x)
            logits = F.linear(self.norm(x), self.token.weight)  # the head is the embedding
            return F.cross_entropy(logits.float().view(-1, V), targets.view(-1))

    return Model()


def torch_server(size, variant, threads):
    """Reads numbers of steps from stdin, answers with the seconds each of them took."""
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    assert torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    compiled, bf16 = VARIANTS[variant]
    _, _, _, T, _, B, _ = SIZES[size]
    model = torch_model(size)
    parameters = sum(p.numel() for p in model.parameters())
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    settings = dict(lr=3e-4, betas=(0.9, 0.95), eps=1e-8)
    try:
        optimizer = torch.optim.AdamW(groups, fused=True, **settings)
        how = "fused"
    except RuntimeError:
        optimizer = torch.optim.AdamW(groups, **settings)
        how = "not fused"
    call = torch.compile(model) if compiled else model
    corpus = torch.randint(0, 256, (1 << 20,), dtype=torch.int64)
    everything = list(model.parameters())

    def step():
        starts = torch.randint(0, len(corpus) - T - 1, (B,)).tolist()
        window = torch.stack([corpus[s:s + T + 1] for s in starts])
        ids, targets = window[:, :-1].contiguous(), window[:, 1:].contiguous()
        optimizer.zero_grad(set_to_none=True)
        if bf16:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = call(ids, targets)
        else:
            loss = call(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(everything, 1.0)
        optimizer.step()
        return loss.item()

    started = time.perf_counter()
    for _ in range(3):  # compiles, fills caches
        loss = step()
    about = {"parameters": parameters, "adamw": how, "warm_up_seconds": round(time.perf_counter() - started, 2),
             "threads": torch.get_num_threads(), "torch": torch.__version__, "loss": loss,
             "capability": torch.backends.cpu.get_cpu_capability(),
             "onednn": [l.strip() for l in torch.__config__.show().splitlines() if "MKL-DNN" in l]}
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            before = time.perf_counter()
            loss = step()
            times.append(time.perf_counter() - before)
        assert loss == loss, "loss is NaN"
        print(json.dumps(times), flush=True)


# ---- our side ----

class Process:
    def __init__(self, words, environment):
        self.p = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.about = None

    def ready(self):
        self.about = json.loads(self.line())

    def cpu_seconds(self):
        """Of all threads; None where the system doesn't say."""
        total, tasks = 0, f"/proc/{self.p.pid}/task"
        try:
            for task in os.listdir(tasks):
                with open(f"{tasks}/{task}/schedstat") as f:
                    total += int(f.read().split()[0])
        except OSError:
            return None
        return total / 1e9

    def line(self):
        line = self.p.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self.p.args)} ended early")
        return line

    def block(self, steps):
        time.sleep(0.01)  # the threads of the one before stop spinning
        before = self.cpu_seconds()
        self.p.stdin.write(f"{steps}\n")
        self.p.stdin.flush()
        seconds = json.loads(self.line())
        after = self.cpu_seconds()
        return seconds, (after - before) / steps if before is not None and after is not None else None

    def close(self):
        self.p.stdin.close()
        self.p.wait()


def load():
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def start(side, size, threads, arguments):
    environment = {k: v for k, v in os.environ.items() if k not in STEERING}
    if side.startswith("posttrain"):
        words = [arguments.program, "bench", "steps", "--preset", size, "--threads", str(threads), "--dtype", side[-4:].strip()]
    else:
        words = [sys.executable, os.path.abspath(__file__), "--serve", size, side, str(threads)]
    return Process(words, environment)


def compare(size, threads, arguments):
    ours = {v: "posttrain bf16" if VARIANTS[v][1] else "posttrain f32" for v in arguments.variants}
    sides = sorted(set(ours.values()), reverse=True) + arguments.variants
    processes = {}
    for side in sides:
        processes[side] = start(side, size, threads, arguments)
    for process in processes.values():
        process.ready()
    for side, own in ours.items():
        if abs(processes[own].about["flop"] - step_flop(size)) > 1:
            raise SystemExit(f"{size}: posttrain's preset is not the model in SIZES")
        if processes[side].about["parameters"] != processes[own].about["parameters"]:
            raise SystemExit(f"{size}: {side} has another number of parameters than posttrain")
    steps = {}
    for side, process in processes.items():  # blocks of about a fifth of a second
        steps[side] = max(1, round(arguments.block / statistics.median(process.block(3)[0])))
    rounds, began = [], time.time()
    while len(rounds) < 5 or time.time() - began < arguments.seconds:
        turn = len(rounds) % len(sides)
        times, cpu = {}, {}
        for side in sides[turn:] + sides[:turn]:
            times[side], cpu[side] = processes[side].block(steps[side])
        rounds.append({"load": load(), "seconds": times, "cpu_seconds": cpu})
    result = {"size": size, "threads": threads, "flop": step_flop(size), "about": {}, "rounds": rounds}
    for side, process in processes.items():
        result["about"][side] = process.about
        process.close()
    per_round = {side: [statistics.fmean(r["seconds"][side]) for r in rounds] for side in sides}
    result["median_seconds"] = {side: statistics.median(v) for side, v in per_round.items()}
    result["best_seconds"] = {side: min(min(r["seconds"][side]) for r in rounds) for side in sides}
    result["ratio"] = {}
    for side, own in ours.items():
        ratios = sorted(t / o for t, o in zip(per_round[side], per_round[own]))
        tenth = (len(ratios) - 1) / 10
        ratio = {"median": statistics.median(ratios), "p10": ratios[round(tenth)], "p90": ratios[round(9 * tenth)],
                 "best": result["best_seconds"][side] / result["best_seconds"][own]}
        cpu = [(r["cpu_seconds"][side], r["cpu_seconds"][own]) for r in rounds]
        if threads == 1 and all(t and o for t, o in cpu):
            ratio["cpu"] = statistics.median(t / o for t, o in cpu)
        result["ratio"][side] = ratio
    words = ", ".join(f"{s} {ratio_text(result['ratio'][s])}" for s in arguments.variants)
    times = ", ".join(f"{own} {1e3 * result['median_seconds'][own]:.2f} ms" for own in sorted(set(ours.values()), reverse=True))
    print(f"{size:10} {threads} thread(s): {times}; torch / posttrain: {words}  "
          f"({len(rounds)} rounds, load {load():.1f})", flush=True)
    return result


def ratio_text(ratio):
    text = "best {best:.2f}, median {median:.2f} ({p10:.2f}-{p90:.2f})".format(**ratio)
    return f"cpu {ratio['cpu']:.2f}, {text}" if "cpu" in ratio else text


# ---- the report ----

def cpu_model():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def markdown(data):
    m, loads = data["machine"], [r["load"] for x in data["results"] for r in x["rounds"]]
    names = data["variants"]
    own = [o for o in ("posttrain f32", "posttrain bf16") if o in data["results"][0]["best_seconds"]]
    order = list(SIZES)
    results = sorted(data["results"], key=lambda r: (order.index(r["size"]), r["threads"]))
    out = [f"{m['processor']}, {m['cores']} cores, {m['system']}; {data['date'][:10]}; torch {data['torch']} (oneDNN in "
           f"use, AdamW {data['adamw']}), Python {data['python']}; posttrain {data['commit']}. Load average while "
           f"measuring: {min(loads):.1f} to {max(loads):.1f}, where {m['cores']} would be this alone on all cores.", "",
           f"    {data['command']}", "",
           "| size | threads | " + " | ".join(f"{o}: best, median ms; GFLOP/s at best" for o in own) + " | "
           + " | ".join(f"torch {n} / posttrain" for n in names) + " |", "|---|---|" + "---|" * (len(own) + len(names))]
    for r in results:
        cells = [r["size"], str(r["threads"])]
        for o in own:
            best, median = r["best_seconds"][o], r["median_seconds"][o]
            cells += [f"{1e3 * best:.2f}, {1e3 * median:.2f}; {r['flop'] / best / 1e9:.1f}"]
        cells += [ratio_text(r["ratio"][n]) for n in names]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="build/posttrain")
    p.add_argument("--sizes", default="tiny,small,medium,reference,large,xl,gpt2")
    p.add_argument("--threads", default=f"1,{os.cpu_count()}", help="comma-separated")
    p.add_argument("--variants", default=",".join(VARIANTS))
    p.add_argument("--seconds", type=float, default=20, help="per size and number of threads")
    p.add_argument("--block", type=float, default=0.2, help="seconds of one side's turn")
    p.add_argument("--json", default="docs/measurements/peers.json")
    p.add_argument("--page", default="docs/SPEED.md", help="whose table is replaced; empty: none")
    p.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    arguments = p.parse_args()
    if arguments.serve:
        return torch_server(arguments.serve[0], arguments.serve[1], int(arguments.serve[2]))
    arguments.variants = arguments.variants.split(",")
    git = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
    data = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": f"make bench-peers PEERS_ARGS='--sizes {arguments.sizes} --threads {arguments.threads} "
                       f"--variants \"{','.join(arguments.variants)}\" --seconds {arguments.seconds:g} "
                       f"--block {arguments.block:g}'",
            "commit": git.stdout.strip() or "unknown",
            "machine": {"processor": cpu_model(), "cores": os.cpu_count(), "system": platform.platform()},
            "python": platform.python_version(), "variants": arguments.variants, "results": []}
    for size in arguments.sizes.split(","):
        for threads in sorted({int(t) for t in arguments.threads.split(",")}):
            result = compare(size, threads, arguments)
            data["results"].append(result)
            rival = result["about"][arguments.variants[0]]
            data["torch"], data["adamw"] = rival["torch"], rival["adamw"]
            with open(arguments.json, "w") as f:  # what there is, after each size
                json.dump(data, f)
            if arguments.page:
                put_in_page(arguments.page, "peers", markdown(data))


if __name__ == "__main__":
    main()

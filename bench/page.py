#!/usr/bin/env python3
"""Writes the tables of docs/SPEED.md from the JSON of `posttrain bench … --json`.

Usage, from the repository's root: bench/page.py    reads docs/measurements/bench-*.json and h200-*.json
Each table stands between two marks; what is outside them is written by hand. Development only; standard library.
"""
import glob, json, os, statistics, sys


def put_in_page(path, name, text):
    begin, end = f"<!-- {name}: written by a program up to its end -->\n", f"<!-- end of {name} -->\n"
    with open(path) as f:
        page = f.read()
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    with open(path, "w") as f:
        f.write(before + begin + "\n" + text + "\n" + end + after)


def head(d):
    m = d["machine"]
    limits = "; ".join(f"{l['threads']} thread(s): peak {l['flop_per_second']['most'] / 1e9:.0f} GFLOP/s (median "
                       f"{l['flop_per_second']['median'] / 1e9:.0f}), memory {l['bytes_per_second']['most'] / 1e9:.1f} GB/s"
                       for l in {x["threads"]: x for x in d["limits"]}.values())
    return (f"{m['processor']}, {m['cores']} cores, {m['isa']}; load {m['load']:.1f}; {d['date'][:10]}; posttrain "
            f"{d['version']}. {limits}.\n")


def milliseconds(s):
    return f"{1e3 * s['median']:.4g} ({1e3 * s['p10']:.4g}-{1e3 * s['p90']:.4g})"


def train(d):
    out = ["| size | threads | step ms (p10-p90) | tok/s | GFLOP/s | by 6N | of peak | of peak beside | most of the time |",
           "|---|---|---|---|---|---|---|---|---|"]
    for r in d["rows"]:
        split = sorted(((v, k) for k, v in r["split_seconds"].items()), reverse=True)
        whole = sum(v for v, _ in split)
        most = ", ".join(f"{k.replace('_', ' ')} {100 * v / whole:.0f}%" for v, k in split[:4])
        out.append(f"| {r['name']} {r['shape']} | {r['threads']} | {milliseconds(r['seconds'])} | "
                   f"{r['tokens_per_second']:.0f} | {r['flop_per_second'] / 1e9:.1f} | "
                   f"{r['flop_per_second_6n'] / 1e9:.1f} | {100 * r['of_peak']:.0f}% | "
                   f"**{100 * r['of_peak_beside']:.0f}%** | {most} |")
    return out


def gemm(d):
    out = ["| layer | dtype | threads | NT: GFLOP/s, of peak, beside | NN | TN |", "|---|---|---|---|---|---|"]
    shapes = {}
    for r in d["rows"]:
        r.setdefault("dtype", "f32")
        shapes.setdefault((r["shape"], r["dtype"], r["threads"]), {})[r["name"].split()[0]] = r
    for (shape, dtype, threads), forms in shapes.items():
        cells = [f"{r['flop_per_second'] / 1e9:.0f}, {100 * r['of_peak']:.0f}%, **{100 * r['of_peak_beside']:.0f}%**"
                 for r in (forms[n] for n in ("NT", "NN", "TN"))]
        out.append(f"| {shape} | {dtype} | {threads} | " + " | ".join(cells) + " |")
    names = dict.fromkeys(r["name"] for r in d["rows"])
    middle = [f"{n} {100 * statistics.median(r['of_peak_beside'] for r in d['rows'] if r['name'] == n):.0f}%" for n in names]
    return out + ["", "Median of the shares beside: " + ", ".join(middle) + "."]


def ops(d):
    out = ["| op | shape | threads | ms (p10-p90) | GFLOP/s | of peak beside | GB/s |", "|---|---|---|---|---|---|---|"]
    for r in d["rows"]:
        flop = r.get("flop_per_second", 0)
        out.append(f"| {r['name']} | {r['shape']} | {r['threads']} | {milliseconds(r['seconds'])} | {flop / 1e9:.1f} | "
                   f"{100 * r.get('of_peak_beside', 0):.0f}% | {r.get('bytes_per_second', 0) / 1e9:.1f} |")
    return out


def threads(d):
    out = ["| size | beside | threads | step ms (p10-p90) | of peak beside | against 1 thread |", "|---|---|---|---|---|---|"]
    for r in d["rows"]:
        busy = "a busy process" if r["neighbours"] else "what else ran"
        out.append(f"| {r['name']} | {busy} | {r['threads']} | {milliseconds(r['seconds'])} | "
                   f"{100 * r['of_peak_beside']:.0f}% | {r['speed_up']:.2f}x |")
    return out


# The original's WebGPU training on the same kind of GPU, same shapes and batches, loss read at each step: tokens a second.
ORIGINAL = {"tiny": 34444, "small": 21616, "medium": 19469, "large": 9752, "xl": 5266, "huge": 3306, "massive": 1500, "mega": 785}


def measured(name):
    with open(f"docs/measurements/{name}.json") as f:
        return json.load(f)


def best_product(d, side):
    return max(r["flop_per_second"] for r in d["rows"] if r["shape"] == f"{side} x {side} x {side}")


def gpu_train(gpu, ladder):
    cpu = {r["name"]: r["tokens_per_second"] for r in measured("h200-train-cpu")["rows"]}
    tokens = {r["name"]: r["tokens"] for r in gpu["rows"]}
    wasm = {r["preset"]: tokens[r["preset"]] / r["median"] for r in measured("h200-wasm-16threads")["rows"] if r["preset"] in tokens}
    best = best_product(ladder, 4096)
    out = ["| size | GPU step ms (p10-p90) | GPU tok/s | GFLOP/s | of the best product | cpu (16 threads) tok/s | WebAssembly (16 threads) "
           "tok/s | GPU / cpu | the original tok/s | GPU / the original |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in gpu["rows"]:
        name, rate = r["name"], r["tokens_per_second"]
        there = lambda table: f"{table[name]:.0f}" if name in table else "not taken"
        ratio = lambda table: f"{rate / table[name]:.1f}" if name in table else ""
        out.append(f"| {name} {r['shape']} | {milliseconds(r['seconds'])} | {rate:.0f} | {r['flop_per_second'] / 1e9:.0f} | "
                   f"{100 * r['flop_per_second'] / best:.1f}% | {there(cpu)} | {there(wasm)} | {ratio(cpu)} | {there(ORIGINAL)} | {ratio(ORIGINAL)} |")
    return out


def gpu_ladder(d):
    sides = [256, 512, 1024, 2048, 4096]
    out = ["| kernel: tile, elements a thread | " + " | ".join(map(str, sides)) + " |", "|---" * (len(sides) + 1) + "|"]
    kernels = {}
    for r in d["rows"]:
        kernels.setdefault(r["name"], {})[r["shape"]] = r["flop_per_second"] / 1e12
    for name, rates in kernels.items():
        if len(rates) == len(sides):
            out.append(f"| {name} | " + " | ".join(f"{rates[f'{n} x {n} x {n}']:.1f}" for n in sides) + " |")
    return out


def gpu_decode(d):
    out = ["| size | weights | MB a token | tok/s | GB/s of weights |", "|---|---|---|---|---|"]
    for r in d["rows"]:
        out.append(f"| {r['name']} | {r['shape'].split(',')[0]} | {r['bytes'] / 1e6:.1f} | {r['tokens_per_second']:.0f} | {r['bytes_per_second'] / 1e9:.0f} |")
    return out


def main():
    gpu, ladder = measured("h200-train-webgpu"), measured("h200-matmul-webgpu")
    for name, rows in (("gpu steps", gpu_train(gpu, ladder)), ("gpu products", gpu_ladder(ladder)),
                       ("gpu decode", gpu_decode(measured("h200-decode-webgpu")))):
        put_in_page("docs/SPEED.md", name, "\n".join(rows) + "\n")
    parts = {}
    for path in sorted(glob.glob("docs/measurements/bench-*.json")):
        with open(path) as f:
            d = json.load(f)
        rows = {"train": train, "gemm": gemm, "ops": ops, "threads": threads}[d["bench"]](d)
        parts.setdefault(d["bench"], []).append(f"`{os.path.basename(path)}`: {head(d)}\n" + "\n".join(rows) + "\n")
    for kind, texts in parts.items():
        put_in_page("docs/SPEED.md", kind, "\n".join(texts))
    return 0 if parts else "no docs/measurements/bench-*.json"


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Learns what a block is: `cargo xtask learn PATH` builds the program that prints the blocks, and starts this one.

    learn.py CASES BLOCKS MODEL

CASES is a folder with `extraction/pages.jsonl.gz` and `wcxb/pages-*.jsonl.xz` (id, type, url, html or body_b64, text), BLOCKS the program
that prints the blocks of pages with their features, MODEL the file that is written. Pages are split by domain: seven tenths to learn from,
a tenth to choose thresholds on, a fifth held out, which is scored once, at the end.
"""
import base64, bisect, collections, glob, gzip, hashlib, json, lzma, os, re, struct, subprocess, sys
from urllib.parse import urlsplit

import lightgbm as lgb
import numpy as np

FIRST = dict(trees=110, leaves=31, rate=0.12)
SECOND = dict(trees=110, leaves=31, rate=0.10)
# A leaf's value and a sum of them, in parts of one.
SCALE = 1024
FOLDS = 4
# Distances of the blocks whose first answers the second stage sees, and widths of windows.
NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
WINDOWS = (3, 10)


def words(text):
    return re.findall(r"\w+", (text or "").lower())


def f1(mine, gold):
    a, b = collections.Counter(words(mine)), collections.Counter(words(gold))
    common = sum((a & b).values())
    p, r = common / max(1, sum(a.values())), common / max(1, sum(b.values()))
    return 2 * p * r / (p + r) if p + r else 0.0


def part_of(url):
    """The part that a page belongs to by its domain: learn, tune or hold."""
    domain = ".".join(urlsplit(url).netloc.lower().split(":")[0].split(".")[-2:])
    digit = int(hashlib.sha256(domain.encode()).hexdigest(), 16)
    return ("hold", "hold", "tune")[digit % 10] if digit % 10 < 3 else "learn", digit // 10 % FOLDS


def matches(texts, gold):
    """Says for each block how much of it the gold has, from 0 to 1, and how sure that is.

    Each block may stand at several places of the gold; the chain of places in order that covers most words wins. Blocks beside the chain
    count if they are long and stand in the gold at a place that no block has yet.
    """
    tokens = words(gold)
    at = collections.defaultdict(list)
    for i in range(len(tokens)):
        at[tuple(tokens[i:i + 1])].append(i)
        if i + 2 < len(tokens):
            at[tuple(tokens[i:i + 3])].append(i)
    blocks = [words(t) for t in texts]
    places = []
    for n, t in enumerate(blocks):
        if not t:
            continue
        if len(t) < 6:
            for i in at.get(tuple(t[:3]) if len(t) >= 3 else tuple(t[:1]), ())[:200]:
                if tokens[i:i + len(t)] == t:
                    places.append((n, i, i + len(t), len(t), 1.0))
        else:
            grams = [tuple(t[i:i + 3]) for i in range(len(t) - 2)]
            share = sum(g in at for g in grams) / len(grams)
            if share >= 0.5:
                starts = collections.Counter()
                for k, g in enumerate(grams):
                    for i in at.get(g, ())[:50]:
                        starts[(i - k) // 8] += 1
                for s, c in starts.most_common(3):
                    if c * 3 >= len(grams):
                        i = max(0, s * 8)
                        places.append((n, i, min(len(tokens), i + len(t)), int(len(t) * share), share))
    # The chain: ends in order, by a tree of maxima over places of the gold.
    places.sort(key=lambda p: (p[0], -p[1]))
    size = len(tokens) + 10
    tree = [(0, -1)] * (size + 1)

    def best(i):
        found = (0, -1)
        while i > 0:
            found = max(found, tree[i])
            i -= i & -i
        return found

    def put(i, value):
        while i <= size:
            tree[i] = max(tree[i], value)
            i += i & -i

    back = []
    k = 0
    while k < len(places):
        same = k
        waiting = []
        while same < len(places) and places[same][0] == places[k][0]:
            n, start, end, weight, share = places[same]
            # Places of long blocks are known to eight words.
            score, before = best(min(size, start + (8 if weight >= 6 else 0) + 1))
            back.append(before)
            # A run in one place beats the same words far apart.
            waiting.append((end + 1, (score + weight, same)))
            same += 1
        for i, value in waiting:
            put(min(size, i), value)
        k = same
    share_of, sure, used = np.zeros(len(texts)), np.ones(len(texts)), np.zeros(len(tokens) + 1, bool)
    k = best(size)[1]
    while k >= 0:
        n, start, end, weight, share = places[k]
        share_of[n] = share
        used[start:end] = True
        k = back[k]
    for n, start, end, weight, share in places:
        if share_of[n]:
            continue
        if end - start >= 6 and used[start:end].mean() < 0.3:
            share_of[n] = share
            used[start:end] = True
        elif end - start < 6 and used[start:end].mean() < 0.5:
            sure[n] = 0.3
            share_of[n] = 0.5
    return share_of, sure


def rendered(texts, kept):
    """The text of the kept blocks, as the program renders it: long copies and lines that repeat the one before are left out."""
    out, seen, last = [], set(), None
    for text, keep in zip(texts, kept):
        if not keep or text == last or (len(text) >= 60 and text in seen):
            continue
        seen.add(text)
        last = text
        out.append(text)
    return "\n\n".join(out)


def pages(folder, program, cache):
    """All pages with their blocks, features and labels."""
    cases = []
    for path in sorted(glob.glob(f"{folder}/wcxb/pages-*.jsonl.xz")) + [f"{folder}/extraction/pages.jsonl.gz"]:
        for line in (lzma.open(path, "rt") if path.endswith("xz") else gzip.open(path, "rt")):
            cases.append(json.loads(line))
    if not os.path.exists(cache):
        with open(cache, "wb") as out:
            reader = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=out)
            for case in cases:
                asked = {k: case[k] for k in ("id", "url", "html", "body_b64") if k in case}
                reader.stdin.write(json.dumps(asked).encode() + b"\n")
            reader.stdin.close()
            if reader.wait():
                sys.exit("the program that prints blocks failed")
    by_id = {case["id"]: case for case in cases}
    found = []
    for line in open(cache, encoding="utf-8"):
        page = json.loads(line)
        case = by_id[page["id"]]
        page["rows"] = np.frombuffer(base64.b64decode(page["rows"]), "<i2").reshape(len(page["blocks"]), -1) if page["blocks"] else np.zeros((0, 1), "<i2")
        if not page["blocks"]:
            continue
        page["spans"] = np.array(page["spans"], np.int32)
        page["gold"], page["type"] = case["text"] or "", case.get("type", "article")
        page["given"] = "type" not in case
        page["part"], page["fold"] = part_of(case["url"])
        page["label"], page["sure"] = matches(page["blocks"], page["gold"])
        length = np.array([len(words(t)) + 1 for t in page["blocks"]], float)
        page["length"] = length
        weight = np.minimum(length, 80) * page["sure"]
        page["weight"] = weight / weight.sum() * 50 * (0.3 + 0.7 * min(1.0, len(words(page["gold"])) / 50))
        found.append(page)
    return found


def stack(some, name):
    return np.concatenate([p[name] for p in some])


def train(some, rows, how):
    parameters = dict(objective="binary", learning_rate=how["rate"], num_leaves=how["leaves"], min_data_in_leaf=40, feature_fraction=0.5,
                      bagging_fraction=0.8, bagging_freq=1, lambda_l2=1.0, verbose=-1, num_threads=1, seed=7, deterministic=True,
                      force_row_wise=True, max_bin=127)
    label, weight = stack(some, "label"), stack(some, "weight")
    data = lgb.Dataset(rows, (label >= 0.5).astype(float), weight=weight)
    return lgb.train(parameters, data, how["trees"])


class Trees:
    """The trees of one stage in whole numbers, as the program reads them."""

    def __init__(self, model):
        self.trees = []
        for tree in model.dump_model()["tree_info"]:
            nodes, leaves = [], []

            def walk(node):
                if "leaf_value" in node:
                    leaves.append(int(np.clip(round(node["leaf_value"] * SCALE), -32768, 32767)))
                    return -len(leaves)
                at = len(nodes)
                nodes.append(None)
                assert node["decision_type"] == "<="
                threshold = int(np.clip(np.floor(node["threshold"]), -32768, 32767))
                nodes[at] = (node["split_feature"], threshold, walk(node["left_child"]), walk(node["right_child"]))
                return at

            walk(tree["tree_structure"])
            self.trees.append((nodes, leaves))

    def score(self, rows):
        out = np.zeros(len(rows), np.int64)
        for nodes, leaves in self.trees:
            if not nodes:
                out += leaves[0]
                continue
            feature, threshold, left, right = (np.array(x) for x in zip(*nodes))
            values, here = np.array(leaves), np.zeros(len(rows), np.int64)
            index = np.arange(len(rows))
            while (here >= 0).any():
                live = index[here >= 0]
                node = here[live]
                here[live] = np.where(rows[live, feature[node]] <= threshold[node], left[node], right[node])
            out += values[-here - 1]
        return out

    def pack(self):
        out = struct.pack("<H", len(self.trees))
        for nodes, leaves in self.trees:
            out += struct.pack("<B", len(leaves))
            for feature, threshold, left, right in nodes:
                out += struct.pack("<Hhbb", feature, threshold, left, right)
            out += struct.pack(f"<{len(leaves)}h", *leaves)
        return out


def second_rows(page, first):
    """The features of the second stage: those of the first, and the first answers around a block, as the program computes them."""
    n = len(first)
    first = np.clip(first, -32768, 32767).astype(np.int64)
    length = page["rows"][:, 0].astype(np.int64)
    columns = [first]
    for distance in NEIGHBOURS:
        shifted = np.full(n, -32768, np.int64)
        if abs(distance) < n:
            if distance < 0:
                shifted[-distance:] = first[:distance]
            else:
                shifted[:n - distance] = first[distance:]
        columns.append(shifted)
    sums = np.concatenate([[0], np.cumsum(first)])
    weighed = np.concatenate([[0], np.cumsum(first * length)])
    lengths = np.concatenate([[0], np.cumsum(length)])
    kept = np.concatenate([[0], np.cumsum(np.where(first > 0, length, 0))])
    at = np.arange(n)
    for width in WINDOWS:
        start, end = np.maximum(0, at - width), np.minimum(n, at + width + 1)
        columns.append((sums[end] - sums[start]) // (end - start))
    spans = page["spans"]
    for level in range(spans.shape[1]):
        start, end = spans[:, level, 0], spans[:, level, 1]
        columns.append((weighed[end] - weighed[start]) // np.maximum(1, lengths[end] - lengths[start]))
        columns.append((kept[end] - kept[start]) * 1000 // np.maximum(1, lengths[end] - lengths[start]))
    columns.append(np.full(n, kept[n] * 1000 // max(1, lengths[n])))
    columns.append(np.full(n, kept[n]))
    more = np.clip(np.stack(columns, 1), -32768, 32767).astype(np.int16)
    return np.concatenate([page["rows"], more], 1)


def report(name, some, text_of):
    by = collections.defaultdict(list)
    for p in some:
        value = f1(text_of(p), p["gold"])
        by[p["type"]].append(value)
        by["all"].append(value)
    print(f"{name:28}", " ".join(f"{t} {np.mean(v):.4f} ({len(v)})" for t, v in sorted(by.items(), key=lambda x: -len(x[1]))), flush=True)
    return {t: float(np.mean(v)) for t, v in by.items()}


def learned(some, folds):
    """Both stages, learned from these pages. The second one learns from answers that the first gave to pages it had not seen."""
    for k in range(folds):
        rest, part = [p for p in some if p["fold"] % folds != k], [p for p in some if p["fold"] % folds == k]
        trees = Trees(train(rest, stack(rest, "rows"), FIRST))
        for p in part:
            p["first"] = trees.score(p["rows"])
    report("first stage, unseen", some, lambda p: rendered(p["blocks"], p["first"] > 0))
    for p in some:
        p["second"] = second_rows(p, p["first"])
    for k in range(folds):
        rest, part = [p for p in some if p["fold"] % folds != k], [p for p in some if p["fold"] % folds == k]
        trees = Trees(train(rest, stack(rest, "second"), SECOND))
        for p in part:
            p["score"] = trees.score(p["second"])
    report("second stage, unseen", some, lambda p: rendered(p["blocks"], p["score"] > 0))
    return Trees(train(some, stack(some, "rows"), FIRST)), Trees(train(some, stack(some, "second"), SECOND))


def main():
    folder, program, target = sys.argv[1:4]
    cache = target + ".blocks.jsonl"
    found = pages(folder, program, cache)
    parts = {name: [p for p in found if p["part"] == name] for name in ("learn", "tune", "hold")}
    print({name: len(part) for name, part in parts.items()}, "blocks", sum(len(p["blocks"]) for p in found), flush=True)
    seen = parts["learn"] + parts["tune"]
    report("rules", seen, lambda p: p["text"])
    report("most that labels allow", seen, lambda p: rendered(p["blocks"], p["label"] >= 0.5))
    first, second = learned(parts["learn"], 3)
    for p in parts["tune"] + parts["hold"]:
        p["first"] = first.score(p["rows"])
        p["second"] = second_rows(p, p["first"])
        p["score"] = second.score(p["second"])
    for threshold in (-400, -200, 0, 200):
        report(f"tuning part, {threshold}", parts["tune"], lambda p: rendered(p["blocks"], p["score"] > threshold))
    with open(target, "wb") as out:
        out.write(first.pack() + second.pack())
    print(os.path.getsize(target), "bytes")
    if "--keep" in sys.argv:
        import pickle
        pickle.dump([{k: v for k, v in p.items() if k != "second"} for p in found], open(target + ".pickle", "wb"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains the model that estimates for each block of a page whether it is part of the text.

`cargo xtask learn PATH` builds the program that prints the blocks, and starts this one:

    learn.py CASES BLOCKS MODEL FOLDER

- CASES is a folder with `extraction/pages.jsonl.gz`, `wcxb/pages-*.jsonl.xz` and `reported/*.jsonl` (id, type, url,
  html or body_b64, text). `curlew check page --label` prints the lines of the reported files.
- BLOCKS is the program that prints the blocks of pages with their features.
- MODEL is the file to write.
- FOLDER is where the blocks are cached.

Pages are split by domain. Four fifths of the domains train the model and, divided into three folds, choose the
advantage of the rules. One fifth is held out and scored once, at the end.
"""
import base64, bisect, collections, glob, gzip, hashlib, json, lzma, os, re, struct, subprocess, sys
from urllib.parse import urlsplit

import lightgbm as lgb
import numpy as np

TREES = dict(trees=250, leaves=31, rate=0.05)
# Values of leaves, and sums of them, are whole numbers in units of 1 / SCALE.
SCALE = 1024
FOLDS = 3
# Candidates for the advantage of the rules, in units of 1 / 65,536 of expected F1; and the F1 that articles may lose by
# the choice.
AHEAD = (0, 650, 1300, 2000, 2600, 3300, 4000, 5000, 6500, 8000, 10000, 13000)
LOSS = 0.001
# By number of trees: if the sum so far is at most the first number, or at least the second, then the sum times the
# third number is the score. The program has the same numbers.
STOPS = {16: (-700, 32767, 4), 60: (-2560, 2560, 1)}
# The rules decide about pages with fewer blocks, as in the program.
FEWEST = 30
# Indexes of two features: one is 9 for a block that the rules keep, the other is 1 for a hidden block.
KEPT, HIDDEN = 311, 305


def words(text):
    return re.findall(r"\w+", (text or "").lower())


def f1(mine, gold):
    a, b = collections.Counter(words(mine)), collections.Counter(words(gold))
    common = sum((a & b).values())
    p, r = common / max(1, sum(a.values())), common / max(1, sum(b.values()))
    return 2 * p * r / (p + r) if p + r else 0.0


def part_of(url):
    """Returns the part of a page by its domain, and its fold, which is used only in training."""
    domain = ".".join(urlsplit(url).netloc.lower().split(":")[0].split(".")[-2:])
    digit = int(hashlib.sha256(domain.encode()).hexdigest(), 16)
    return ("hold", "hold", "last")[digit % 10] if digit % 10 < 3 else "first", digit // 10 % FOLDS


def matches(texts, gold):
    """Returns for each block the share of it that is in the gold text, from 0 to 1, and how certain that is.

    A block may match several places of the gold text. The chain of places, in order, that covers most words wins. A
    block that is not in the chain counts if it matches a place that mostly no other block covers.
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
    # Finds the best chain with a Fenwick tree of maxima over the positions of the gold text.
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
            # The position of a long block is known only to within eight words.
            score, before = best(min(size, start + (8 if weight >= 6 else 0) + 1))
            back.append(before)
            # Blocks are entered after the last place of this block, so that a chain uses each block once.
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


def copies(texts):
    """Returns for each block whether it repeats the block before or, if it is long, any earlier block.

    Such copies are not rendered.
    """
    out, seen, last = [], set(), None
    for text in texts:
        out.append(text == last or (len(text) >= 60 and text in seen))
        seen.add(text)
        last = text
    return np.array(out, bool)


def rendered(texts, kept):
    """Returns the text of the kept blocks, as the program renders it."""
    some = [text for text, keep in zip(texts, kept) if keep]
    return "\n\n".join(text for text, copy in zip(some, copies(some)) if not copy)


def pages(folder, program, cache):
    """Returns all pages with their blocks, features and labels."""
    cases = []
    openers = {"xz": lzma.open, "gz": gzip.open}
    for pattern in ("wcxb/pages-*.jsonl.xz", "extraction/pages.jsonl.gz", "reported/*.jsonl"):
        for path in sorted(glob.glob(f"{folder}/{pattern}")):
            for line in openers.get(path[-2:], open)(path, "rt", encoding="utf-8"):
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
        page["gold"], page["type"] = case["text"] or "", case.get("type", "article")
        page["given"] = "type" not in case
        page["part"], page["fold"] = part_of(case["url"])
        page["label"], page["sure"] = matches(page["blocks"], page["gold"])
        page["length"] = length = page["rows"][:, 0].astype(float) + 1
        page["text"] = rendered(page["blocks"], page["rows"][:, KEPT] == 9)
        page["copy"] = copies(page["blocks"]) | (page["rows"][:, HIDDEN] == 1)
        weight = np.minimum(length, 80) * page["sure"]
        page["weight"] = weight / weight.sum() * 50 * (0.3 + 0.7 * min(1.0, len(words(page["gold"])) / 50))
        found.append(page)
    return found


def stack(some, name):
    return np.concatenate([p[name] for p in some])


def train(some):
    parameters = dict(objective="binary", learning_rate=TREES["rate"], num_leaves=TREES["leaves"], min_data_in_leaf=60, feature_fraction=0.3,
                      bagging_fraction=0.8, bagging_freq=1, lambda_l2=5.0, verbose=-1, num_threads=1, seed=7, deterministic=True,
                      force_row_wise=True, max_bin=127)
    label, weight = stack(some, "label"), stack(some, "weight")
    data = lgb.Dataset(stack(some, "rows"), (label >= 0.5).astype(float), weight=weight)
    return lgb.train(parameters, data, TREES["trees"])


class Trees:
    """The trees of a model in whole numbers, as the program reads them."""

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
        sure = np.zeros(len(rows), bool)
        for number, (nodes, leaves) in enumerate(self.trees):
            if number in STOPS:
                low, high, times = STOPS[number]
                ends = ~sure & ((out <= low) | (out >= high))
                out[ends] *= times
                sure |= ends
            if not nodes:
                out += np.where(sure, 0, leaves[0])
                continue
            feature, threshold, left, right = (np.array(x) for x in zip(*nodes))
            values, here = np.array(leaves), np.zeros(len(rows), np.int64)
            index = np.arange(len(rows))
            while (here >= 0).any():
                live = index[here >= 0]
                node = here[live]
                here[live] = np.where(rows[live, feature[node]] <= threshold[node], left[node], right[node])
            out += np.where(sure, 0, values[-here - 1])
        return out

    def pack(self, ahead):
        out = struct.pack("<HH", ahead, len(self.trees))
        for nodes, leaves in self.trees:
            out += struct.pack("<B", len(leaves))
            for feature, threshold, left, right in nodes:
                out += struct.pack("<Hhbb", feature, threshold, left, right)
            out += struct.pack(f"<{len(leaves)}h", *leaves)
        return out


def chosen(page, ahead):
    """Returns which blocks are text, as the program chooses them; None if the rules decide."""
    texts, scores = page["blocks"], page["score"]
    if len(texts) < FEWEST:
        return None
    chance = 65536 / (1 + np.exp(-scores / SCALE))
    length = page["length"] * ~page["copy"]
    order = np.argsort(-scores, kind="stable")
    right, taken, every = np.cumsum((chance * length)[order]), np.cumsum(length[order]) * 65536, (chance * length).sum()
    worth = 2 * right * 65536 / (taken + every + 1)
    many = int(np.argmax(worth)) + 1
    rules = page["rows"][:, KEPT] == 9
    own = 2 * (chance * length)[rules].sum() * 65536 / (length[rules].sum() * 65536 + every + 1)
    if own + ahead >= worth[many - 1]:
        return None
    kept = np.zeros(len(texts), bool)
    kept[order[:many]] = True
    return kept & ~page["copy"]


def read(page, ahead):
    """Returns the text that the program extracts: by the rules or by the model."""
    kept = chosen(page, ahead)
    return page["text"] if kept is None else rendered(page["blocks"], kept)


def report(name, some, text_of):
    by = collections.defaultdict(list)
    for p in some:
        value = f1(text_of(p), p["gold"])
        by[p["type"]].append(value)
        by["all"].append(value)
    print(f"{name:28}", " ".join(f"{t} {np.mean(v):.4f} ({len(v)})" for t, v in sorted(by.items(), key=lambda x: -len(x[1]))), flush=True)
    return {t: (float(np.mean(v)), len(v)) for t, v in by.items()}


CARD = """# The model of what a block is

`model.bin` says of each block of a page whether it is part of its text ([0037](../../../../docs/decisions/0037-text-by-agreement.md)).
`cargo xtask learn PATH` makes both files anew.

- **Data**: {pages} pages of WCXB, the Web Content eXtraction Benchmark (development split; annotations CC-BY-4.0), with the text that
  people marked. The pages are not kept here; of them the model has thresholds and sums.
- **Split**: by domain (a hash of it): {seen} pages to learn from, and by three parts of them to choose the advantage of
  the rules; {hold} held out, which are scored at the end of a learning, and decide nothing. They have been scored at each learning
  so far (three times), and once more with the stops below, which were chosen by the others.
- **Model**: {trees} gradient-boosted trees of at most {leaves} leaves over {features} features, all whole numbers; {bytes} bytes. LightGBM
  {version}, one thread, fixed seed. Where by the model's odds the rules' answer is within {ahead} of its own best, the rules decide.
  Where the first 16 or 60 trees are sure of a block, the others are not asked.
- **Bounds**: pages of fewer than 30 blocks are left to the rules. English pages are most of what it has learned from; features have no words of a language but those of class names.

Word F1, mean over pages:

| | {kinds} |
|---|{lines}|
| pages | {counts} |
{rows}
"""


def card(path, figures, **facts):
    """Writes the model's card beside it."""
    kinds = list(figures["held out"])
    rows = [f"| {name} | " + " | ".join(f"{part[k][0]:.4f}" for k in kinds) + " |" for name, part in figures.items()]
    counts = " | ".join(str(figures["held out"][k][1]) for k in kinds)
    with open(path, "w") as out:
        out.write(CARD.format(kinds=" | ".join(kinds), lines="---:|" * (len(kinds) - 1) + "---:", counts=counts, rows="\n".join(rows), **facts))


def unseen(some):
    """Scores each page with trees that were trained on pages of other domains."""
    for k in range(FOLDS):
        trees = Trees(train([p for p in some if p["fold"] != k]))
        for p in some:
            if p["fold"] == k:
                p["score"] = trees.score(p["rows"])


def main():
    folder, program, target, work = sys.argv[1:5]
    found = pages(folder, program, f"{work}/blocks.jsonl")
    first, last, held = ([p for p in found if p["part"] == part] for part in ("first", "last", "hold"))
    # The order of pages decides which pages each tree is trained on, and so the bits of the model.
    seen = first + last
    print(len(seen), "pages,", len(held), "held out,", sum(len(p["blocks"]) for p in found), "blocks", flush=True)
    rules = report("rules", seen, lambda p: p["text"])
    report("most that labels allow", seen, lambda p: rendered(p["blocks"], p["label"] >= 0.5))
    unseen(seen)
    report("domains unseen, model alone", seen, lambda p: read(p, -10**6))
    tried = {ahead: report(f"domains unseen, {ahead}", seen, lambda p: read(p, ahead)) for ahead in AHEAD}
    good = [ahead for ahead in AHEAD if tried[ahead]["article"][0] >= rules["article"][0] - LOSS] or [AHEAD[-1]]
    chosen_ahead = max(good, key=lambda ahead: tried[ahead]["all"][0])
    trees = Trees(train(seen))
    with open(target, "wb") as out:
        out.write(trees.pack(chosen_ahead))
    print(os.path.getsize(target), "bytes")
    for p in held:
        p["score"] = trees.score(p["rows"])
    figures = {name: report(name, held, text) for name, text in (
        ("held out", lambda p: read(p, chosen_ahead)), ("held out, by rules alone", lambda p: p["text"]),
        ("held out, by the model alone", lambda p: read(p, -10**6)),
        ("most that the blocks allow", lambda p: rendered(p["blocks"], p["label"] >= 0.5)))}
    card(target.replace(".bin", ".md"), figures, pages=len(found), seen=len(seen), hold=len(held), trees=TREES["trees"],
         leaves=TREES["leaves"], features=found[0]["rows"].shape[1], bytes=os.path.getsize(target), version=lgb.__version__,
         ahead=f"{chosen_ahead / 65536:.3f}")


if __name__ == "__main__":
    main()

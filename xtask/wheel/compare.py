"""Compares the wheel with trafilatura in one process: the keys that both return, and the processor time of pages.

    compare.py [PAGES]

PAGES is a file of gzipped JSON Lines with `url` and `body_b64`; without it, a page in this file is used.
"""

import base64
import gzip
import json
import sys
import time

import curlew_article
import trafilatura

ROUNDS = 3
WRITTEN = """<html lang="en"><title>Tea and toast - Notes</title><nav><a href="/">Home</a></nav><article>
<h1>Tea and toast</h1><time datetime="2026-03-01">1 March</time><p>Toast is best while the tea is still too hot to
drink, which leaves four minutes for the butter, and for a look out of the window at the rain, which has not stopped
since the kettle was put on. It is a small thing to know, and a good one.</p></article></html>"""


def theirs(html, url):
    found = trafilatura.bare_extraction(html, url=url, with_metadata=True)
    return found.as_dict() if found else {}


def ours(html, url):
    try:
        return curlew_article.extract(html, url)
    except ValueError:
        return {}


def pages(path):
    if path is None:
        return [(WRITTEN.encode(), "https://notes.example/tea")]
    with gzip.open(path, "rt") as lines:
        return [(base64.b64decode(page["body_b64"]), page["url"]) for page in map(json.loads, lines)]


def seconds(extract, all_pages):
    """Returns the processor time of the fastest round, which other load on the machine affects least."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for html, url in all_pages:
            extract(html, url)
        times.append(time.process_time() - began)
    return min(times)


def check():
    article = ours(WRITTEN, "https://notes.example/tea")
    missing = set(theirs(WRITTEN, "https://notes.example/tea")) ^ set(article)
    assert not missing, f"these names are not of both: {missing}"
    assert (article["title"], article["date"], article["language"]) == ("Tea and toast", "2026-03-01", "en"), article
    assert article["text"].startswith("Toast is best") and "Home" not in article["text"], article
    assert ours(WRITTEN.encode(), None)["url"] is None
    for html, url in [(b"%PDF-1.7", None), (WRITTEN, "no address")]:
        try:
            curlew_article.extract(html, url)
        except ValueError:
            continue
        raise AssertionError(f"{html[:20]} at {url} is no error")


check()
read = pages(sys.argv[1] if len(sys.argv) > 1 else None)
curlew, other = seconds(ours, read), seconds(theirs, read)
print(f"{len(read)} pages: {curlew:.3f} s, trafilatura {other:.3f} s: {other / curlew:.1f} times as fast")

"""Prints the answers of other search engines.

`peers.py DOCS QUERIES ENGINE` prints {"query", "ranks": [id, ...]} for each query.

DOCS     JSON Lines: {"id", "language", "title", "text"}
QUERIES  JSON Lines: {"query", "language" (or else that of the first document)}
ENGINE   fts5-or   SQLite FTS5, any of the words, its own bm25()
         fts5-and  SQLite FTS5, all of the words
         xapian    any of the words, BM25, the title counted twice
         bm25s     with PyStemmer
         tantivy   any of the words, the text stored, ten snippets; prints {"median_ms"} of its answers instead

Each engine has its default settings. Engines with stemmers and stop words use those of the language of each document
and query. In practice nobody would tell them the language of a query. SQLite stems only English, so it stems every
document as English. In scripts without spaces between words, pairs of neighbouring characters are the words.
"""

import json
import re
import sqlite3
import statistics
import sys
import tempfile
import time

LANGUAGES = {"en": "english", "it": "italian", "de": "german", "fr": "french", "es": "spanish", "nl": "dutch", "pt": "portuguese", "ar": "arabic"}
# Languages for which bm25s has no stop words.
WITHOUT_STOP_WORDS = {"ar"}
DEPTH = 10
# Thai, kana and Chinese characters.
RUN = re.compile("[\u0e01-\u0e4e\u3005-\u3007\u3041-\u30ff\u3400-\u9fff]+")


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def paired(text):
    """Replaces each pair of characters in a run by a word of Latin letters and digits, which no tokenizer splits."""
    word = lambda pair: "".join(f"{ord(c):x}" for c in pair) + "x"
    pairs = lambda run: " ".join(word(run[at : at + 2]) for at in range(max(len(run) - 1, 1)))
    return RUN.sub(lambda run: f" {pairs(run[0])} ", text)


class Fts5:
    """SQLite FTS5. The words of a query are passed as strings, so that none is parsed as an operator."""

    def __init__(self, docs, operator):
        self.operator = operator
        self.ids = [doc["id"] for doc in docs]
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE VIRTUAL TABLE docs USING fts5(title, text, tokenize = 'porter unicode61')")
        rows = ((number, doc["title"], doc["text"]) for number, doc in enumerate(docs))
        self.base.executemany("INSERT INTO docs(rowid, title, text) VALUES (?, ?, ?)", rows)

    def search(self, query, language):
        match = self.operator.join(f'"{word}"' for word in re.findall(r"[^\W_]+", query))
        if not match:
            return []
        rows = self.base.execute("SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return [self.ids[number] for (number,) in rows]


class Xapian:
    def __init__(self, docs):
        import xapian

        self.stemmer = lambda language: xapian.Stem(LANGUAGES.get(language, "none"))
        self.folder = tempfile.TemporaryDirectory()
        base = xapian.WritableDatabase(self.folder.name, xapian.DB_CREATE | xapian.DB_NO_SYNC)
        generator = xapian.TermGenerator()
        for doc in docs:
            generator.set_stemmer(self.stemmer(doc["language"]))
            entry = xapian.Document()
            entry.set_data(doc["id"])
            generator.set_document(entry)
            generator.set_termpos(0)
            generator.index_text(doc["title"], 2)
            generator.increase_termpos()
            generator.index_text(doc["text"])
            base.add_document(entry)
        base.commit()
        self.parser = xapian.QueryParser()
        self.parser.set_stemming_strategy(xapian.QueryParser.STEM_SOME)
        self.parser.set_default_op(xapian.Query.OP_OR)
        self.enquire = xapian.Enquire(base)
        self.enquire.set_weighting_scheme(xapian.BM25Weight())

    def search(self, query, language):
        self.parser.set_stemmer(self.stemmer(language))
        # The flags 0 turn query syntax off. Xapian does not stem capitalised words, so the query is in lower case.
        self.enquire.set_query(self.parser.parse_query(query.lower(), 0))
        return [match.document.get_data().decode() for match in self.enquire.get_mset(0, DEPTH)]


class Bm25s:
    def __init__(self, docs):
        import bm25s
        import Stemmer

        stemmers = {language: Stemmer.Stemmer(name) for language, name in LANGUAGES.items()}

        def words(text, language):
            stop_words = language if language in LANGUAGES.keys() - WITHOUT_STOP_WORDS else None
            stemmer = stemmers.get(language)
            return bm25s.tokenize([text], stopwords=stop_words, stemmer=stemmer, return_ids=False, show_progress=False)[0]

        self.words = words
        self.ids = [doc["id"] for doc in docs]
        self.index = bm25s.BM25()
        texts = [words(doc["title"] + "\n" + doc["text"], doc["language"]) for doc in docs]
        self.index.index(texts, show_progress=False)

    def search(self, query, language):
        words = [word for word in self.words(query, language) if word in self.index.vocab_dict]
        if not words:
            return []
        found, scores = self.index.retrieve([words], k=min(DEPTH, len(self.ids)), show_progress=False)
        return [self.ids[number] for number, score in zip(found[0], scores[0]) if score > 0]


class Tantivy:
    """tantivy, which is measured for time only: our engine is based on it, so it is not a peer for answers."""

    def __init__(self, docs):
        import tantivy

        schema = tantivy.SchemaBuilder()
        for field in ("title", "text"):
            schema.add_text_field(field, stored=True, tokenizer_name="en_stem")
        self.snippets, self.schema = tantivy.SnippetGenerator, schema.build()
        self.folder = tempfile.TemporaryDirectory()
        self.index = tantivy.Index(self.schema, self.folder.name)
        writer = self.index.writer()
        for doc in docs:
            writer.add_document(tantivy.Document(title=doc["title"], text=doc["text"]))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def search(self, query, language):
        searcher = self.index.searcher()
        parsed = self.index.parse_query(query, ["title", "text"])
        snippets = self.snippets.create(searcher, parsed, self.schema, "text")
        found = [searcher.doc(address) for _, address in searcher.search(parsed, DEPTH).hits]
        return [(doc["title"], snippets.snippet_from_doc(doc).to_html()) for doc in found]


def median_ms(engine, queries):
    """Returns the median time of an answer, over rounds of all queries. The first round is not counted."""
    rounds, times = 50, []
    for number in range(rounds + 1):
        for query in queries:
            began = time.perf_counter()
            found = engine.search(query["query"], "en")
            times += [(time.perf_counter() - began) * 1e3] * (number > 0)
            assert found, f"{query} finds nothing"
    return statistics.median(times)


ENGINES = {
    "fts5-or": lambda docs: Fts5(docs, " OR "),
    "fts5-and": lambda docs: Fts5(docs, " "),
    "xapian": Xapian,
    "bm25s": Bm25s,
    "tantivy": Tantivy,
}


def main():
    docs, queries = lines(sys.argv[1]), lines(sys.argv[2])
    docs = [{**doc, "title": paired(doc["title"]), "text": paired(doc["text"])} for doc in docs]
    engine = ENGINES[sys.argv[3]](docs)
    if isinstance(engine, Tantivy):
        return print(json.dumps({"median_ms": median_ms(engine, queries)}))
    for query in queries:
        ranks = engine.search(paired(query["query"]), query.get("language", docs[0]["language"]))
        print(json.dumps({"query": query["query"], "ranks": ranks}, ensure_ascii=False))


if __name__ == "__main__":
    main()

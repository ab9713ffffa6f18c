-- A store of version 1, as the first program with a store wrote it. LENGTH is that of the one record's frame.
PRAGMA application_id = 0x43726c77;
PRAGMA user_version = 1;
CREATE TABLE hosts (host TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE robots (
    origin        TEXT PRIMARY KEY,
    standing      TEXT NOT NULL,
    body_at       INTEGER NOT NULL,
    fetched_at    INTEGER NOT NULL,
    fresh_until   INTEGER NOT NULL,
    etag          TEXT,
    last_modified TEXT,
    body          BLOB NOT NULL
) STRICT;
CREATE TABLE marks (name TEXT PRIMARY KEY, version INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pages (id TEXT PRIMARY KEY, version INTEGER NOT NULL, page TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sources (key TEXT PRIMARY KEY, slot INTEGER NOT NULL, version INTEGER NOT NULL, source TEXT NOT NULL) STRICT;
CREATE INDEX sources_by_slot ON sources (slot, key);
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    stage      TEXT NOT NULL,
    due        INTEGER NOT NULL,
    handed_out INTEGER NOT NULL DEFAULT 0,
    receives   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX jobs_by_due ON jobs (stage, due);
CREATE INDEX jobs_idle ON jobs (due, stage) WHERE handed_out = 0;
CREATE TABLE dead (id INTEGER PRIMARY KEY, stage TEXT NOT NULL, at INTEGER NOT NULL, error TEXT NOT NULL) STRICT;
CREATE INDEX dead_by_time ON dead (at);
CREATE TABLE messages (id INTEGER PRIMARY KEY, message TEXT NOT NULL) STRICT;

INSERT INTO hosts VALUES ('lantern.test', 3, '{"lease":null,"last_token":3,"not_before":"2026-11-21T04:00:01Z","bucket":{"milli_tokens":2000,"at":"2026-11-21T04:00:00Z"},"failures":0,"circuit":"closed","hold":null,"holds_in_a_row":0,"window":{"began":"2026-11-21T04:00:00Z","spent":900},"blocked":[],"last_response":40,"crawl_delay":0}');
INSERT INTO hosts VALUES ('closed.test', 2, '{"hold":{"until":"2099-01-01T00:00:00Z","reason":"forbidden","since":"2026-11-21T04:00:00Z"},"holds_in_a_row":1,"failures":2,"circuit":"probe"}');
INSERT INTO robots VALUES ('https://lantern.test:443', '"fetched"', 1795233600000, 1795233600000, 1795320000000, '"a"', NULL, x'557365722d6167656e743a202a0a');
INSERT INTO marks VALUES ('dispatch', 5, 1795233600000);
INSERT INTO pages VALUES ('00000000000000000000000000000001', 2, '{"id":"00000000000000000000000000000001","url":"https://lantern.test/first","host":"lantern.test","feed":"0000000000000000000000000000000f","state":{"state":"accepted","year":2026,"location":{"segment":"segments/2026/11/21/0000000000000000000000000000000000000000000000000000000000000001.jsonl.zst","offset":0,"length":LENGTH},"content_hash":"0123456789abcdef"},"at":"2026-11-21T04:00:00Z"}');
INSERT INTO pages VALUES ('00000000000000000000000000000002', 1, '{"id":"00000000000000000000000000000002","url":"https://lantern.test/second","host":"lantern.test","state":{"state":"rejected","reason":{"why":"screened","detail":["violence"]}},"at":"2026-11-21T04:00:00Z"}');
INSERT INTO pages VALUES ('00000000000000000000000000000003', 1, '{"id":"00000000000000000000000000000003","url":"https://lantern.test/third","host":"lantern.test","state":{"state":"rejected","reason":{"why":"status","detail":404}},"at":"2026-11-21T04:00:00Z"}');
INSERT INTO pages VALUES ('00000000000000000000000000000004', 2, '{"id":"00000000000000000000000000000004","url":"https://lantern.test/fourth","host":"lantern.test","state":{"state":"gone","reason":"not_found"},"at":"2026-11-21T04:00:00Z","checked_at":"2026-11-21T04:00:00Z"}');
INSERT INTO pages VALUES ('00000000000000000000000000000005', 1, '{"id":"00000000000000000000000000000005","url":"https://lantern.test/first?from=feed","host":"lantern.test","state":{"state":"alias","of":"00000000000000000000000000000001"},"at":"2026-11-21T04:00:00Z"}');
INSERT INTO sources VALUES ('0000000000000000000000000000000e', 14, 2, '{"kind":"site","key":"0000000000000000000000000000000e","slot":14,"url":"https://lantern.test/","state":{"state":"working","feeds":["0000000000000000000000000000000f"]},"image":null,"not_before":"2026-11-21T04:00:00Z","failures":0}');
INSERT INTO sources VALUES ('0000000000000000000000000000000f', 15, 2, '{"kind":"feed","key":"0000000000000000000000000000000f","slot":15,"url":"https://lantern.test/feed.xml","site":"0000000000000000000000000000000e","format":"rss2","title":"The Lantern","description":null,"link":"https://lantern.test/","language":"en","image":null,"validators":{"etag":"\"b\""},"interval":28800000,"not_before":"2026-11-21T12:00:00Z","polled_at":"2026-11-21T04:00:00Z","failures":0,"trouble":null,"gone":false,"moved":null,"seen":[17,23]}');
INSERT INTO jobs VALUES (1, 'poll', 4070908800000, 0, 0);
INSERT INTO messages VALUES (1, '{"v":1,"job":"poll","feed":"0000000000000000000000000000000f","url":"https://lantern.test/feed.xml","deferrals":1}');
INSERT INTO jobs VALUES (2, 'fetch', 4070908800000, 1, 1);
INSERT INTO messages VALUES (2, '{"v":1,"job":"fetch","host":"closed.test","items":[{"url":"https://closed.test/a","page":"00000000000000000000000000000006","purpose":{"for":"new","hints":{}}}],"deferrals":2}');
INSERT INTO dead VALUES (3, 'poll', 1795233600000, 'the feed cannot be read');
INSERT INTO messages VALUES (3, '{"v":1,"job":"poll","feed":"0000000000000000000000000000000f","url":"https://lantern.test/feed.xml","deferrals":0}');

-- Times are microseconds since 1970 in UTC, durations microseconds. A NULL count
-- of tokens was not measured.

-- "hedd": tells the ledger from another program's database.
PRAGMA application_id = 0x68656464;

CREATE TABLE sessions (
	id             TEXT PRIMARY KEY,
	started        INTEGER NOT NULL,
	principal      TEXT NOT NULL,
	mode           TEXT NOT NULL,
	client         TEXT NOT NULL,
	client_version TEXT NOT NULL,
	protocol       TEXT NOT NULL,
	native_bytes   INTEGER NOT NULL,
	surface_bytes  INTEGER NOT NULL,
	native_tokens  INTEGER,
	surface_tokens INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
	id                INTEGER PRIMARY KEY,
	time              INTEGER NOT NULL,
	principal         TEXT NOT NULL,
	session           TEXT NOT NULL,
	mode              TEXT NOT NULL,
	tool              TEXT NOT NULL, -- as the host named it
	server            TEXT NOT NULL, -- '' when the tool did not resolve
	name              TEXT NOT NULL, -- as its server wrote it
	kind              TEXT NOT NULL, -- '' is success
	is_error          INTEGER NOT NULL,
	decisions         TEXT,          -- JSON array of {check, action, rule}
	form              TEXT NOT NULL,
	queue_us          INTEGER NOT NULL,
	policy_us         INTEGER NOT NULL,
	upstream_us       INTEGER NOT NULL,
	deliver_us        INTEGER NOT NULL,
	total_us          INTEGER NOT NULL,
	upstream_bytes    INTEGER NOT NULL,
	delivered_bytes   INTEGER NOT NULL,
	upstream_tokens   INTEGER,
	delivered_tokens  INTEGER,
	definition_tokens INTEGER,
	cache_hit         INTEGER NOT NULL
) STRICT;

-- Reports ask for a span of time, and so does the removal of old rows. Rows come
-- in order of time, so the index is appended to.
CREATE INDEX calls_time ON calls (time);

CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

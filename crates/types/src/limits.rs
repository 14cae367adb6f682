//! Every bound of Mainstay, in one place.
//!
//! Each says its unit, who enforces it and what happens beyond it. A queue, loop, list or text
//! without a bound here is a bug.

/// Longest class, node, dependency or effect name.
/// Unit: bytes. Enforced by: `names`. Beyond: NAME_INVALID.
pub const NAME_BYTES_MAX: usize = 64;

/// Longest tenant, start key or business id.
/// Unit: bytes. Enforced by: `names`. Beyond: NAME_INVALID.
pub const KEY_BYTES_MAX: usize = 200;

/// Bytes of one group that share a frame and a sync; a request that is larger has its own.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: the next group.
pub const GROUP_BYTES_MAX: usize = 4 << 20;

/// How long the ledger gathers and checks requests for one group, so that what steers a run is not
/// held up by a crowd of what begins others.
/// Unit: milliseconds, looked at after each caller's wish. Enforced by: `ledger/log`. Beyond: what
/// waits goes into the next group.
pub const GROUP_GATHER_MS: u64 = 2;

/// How often a committer whose ordinary line is not served looks again.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: it looks.
pub const COMMIT_GLANCE_MS: u64 = 2;

/// How long a closed run is kept after it ended.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: it is pruned.
pub const RUN_MEMORY_MS_DEFAULT: u64 = 30 * 24 * 60 * 60 * 1_000;

/// How long a start key is remembered after its run ended.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: the key is free again.
pub const START_KEY_MEMORY_MS_DEFAULT: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Longest text for people kept in an event (messages, notices, provider codes).
/// Unit: bytes. Enforced by: the runtime. Beyond: cut, with an ellipsis.
pub const TEXT_BYTES_MAX: usize = 1_024;

/// Largest input of a run.
/// Unit: bytes of text. Enforced by: who reads the input. Beyond: INVALID_INPUT.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// Largest single payload: input, request, result or one item.
/// Unit: bytes of canonical JSON. Enforced by: the runtime. Beyond: PAYLOAD_TOO_LARGE.
pub const PAYLOAD_BYTES_MAX: usize = 4 << 20;

/// Nodes of one task class.
/// Unit: nodes. Enforced by: `graph` validation. Beyond: TOO_MANY_NODES.
pub const CLASS_NODES_MAX: usize = 256;

/// Items of one `each`.
/// Unit: items. Enforced by: `graph` validation. Beyond: LIST_BOUND_INVALID.
pub const EACH_ITEMS_MAX: u32 = 1_000;

/// How often a model may ask for tools in one call that offers them.
/// Unit: tool calls. Enforced by: `graph` validation, `machine`. Beyond: TOOLS_INVALID,
/// CAP_REACHED.
pub const TOOL_CALLS_MAX: u32 = 256;

/// The id that a model gives to one of its tool calls.
/// Unit: bytes. Enforced by: `machine`. Beyond: INVALID_INPUT.
pub const TOOL_CALL_ID_BYTES_MAX: usize = 128;

/// Calls of one run, items included.
/// Unit: calls. Enforced by: `machine` when a list is recorded. Beyond: LIST_TOO_LONG.
pub const RUN_CALLS_MAX: usize = 10_000;

/// Fallback rungs of one call.
/// Unit: rungs. Enforced by: `graph` validation. Beyond: TOO_MANY_FALLBACKS.
pub const FALLBACKS_MAX: usize = 8;

/// Attempts of one call over all rungs and laps.
/// Unit: attempts. Enforced by: `graph` validation and `machine`. Beyond: ATTEMPTS_EXHAUSTED.
pub const CALL_ATTEMPTS_MAX: u32 = 64;

/// Laps of one run.
/// Unit: laps. Enforced by: `machine`. Beyond: CONTINUE_REFUSED.
pub const LAPS_MAX: usize = 64;

/// Concurrency tokens a class may give a run.
/// Unit: tokens. Enforced by: `graph` validation. Beyond: BUDGET_INVALID.
pub const RUN_CONCURRENCY_MAX: u32 = 256;

/// Retry tokens a class may give a run.
/// Unit: tokens. Enforced by: `graph` validation. Beyond: BUDGET_INVALID.
pub const RUN_RETRIES_MAX: u32 = 1_000;

/// Longest time a class may give a run to answer.
/// Unit: milliseconds. Enforced by: `graph` validation. Beyond: TIMES_INVALID.
pub const ANSWER_MS_MAX: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Time from the decision of an attempt, right before its append, to the moment its request
/// leaves. A disk that takes longer than this for an append lets nothing leave.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: settled NotSent, never sent late.
pub const SEND_WINDOW_MS: u64 = 1_000;

/// How much earlier than it promises a receiver is taken to forget a key: its clock is not ours.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: KEY_TOO_OLD, nothing is sent again.
pub const KEY_TTL_SKEW_MS: u64 = 1_000;

/// First wait between two look-ups of an effect in doubt; doubles.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: not applicable.
pub const LOOKUP_BACKOFF_BASE_MS: u64 = 250;

/// Longest wait between two look-ups of an effect in doubt.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: capped.
pub const LOOKUP_BACKOFF_MAX_MS: u64 = 60_000;

/// The same once the lap has its outcome and nobody waits.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: capped.
pub const LOOKUP_BACKOFF_ENDED_MAX_MS: u64 = 60 * 60 * 1_000;

/// Look-ups about what undoes an effect that could not tell, after the lap's outcome, when people
/// are told: no time of the run ends that doubt.
/// Unit: look-ups. Enforced by: `machine`. Beyond: an alert, once per doubt.
pub const UNDO_LOOKUPS_QUIET_MAX: u32 = 10;

/// Timeout of one control attempt.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: the look-up could not tell.
pub const CONTROL_TIMEOUT_MS: u64 = 5_000;

/// Control attempts of one process at once, in a pool of their own.
/// Unit: attempts. Enforced by: the runtime. Beyond: they wait for a place in the pool.
pub const CONTROL_IN_FLIGHT_MAX: usize = 32;

/// How many of these are about requests that were sent before their run came into memory: after a
/// start the crowd of old doubts leaves places to new ones.
/// Unit: attempts. Enforced by: the runtime. Beyond: they wait for one of these places.
pub const LOOKUP_CROWD_IN_FLIGHT_MAX: usize = 24;

/// Look-ups of this crowd that leave at once after a pause.
/// Unit: attempts. Enforced by: the runtime. Beyond: they go one after another.
pub const LOOKUP_CROWD_BURST: usize = 16;

/// Between two look-ups of this crowd beyond that: 10,000 doubts are asked about within 20 s.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: not applicable.
pub const LOOKUP_CROWD_SPACING_MS: u64 = 2;

/// Each of them leaves a drawn part of this later, so that they do not go in step.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: not applicable.
pub const LOOKUP_CROWD_JITTER_MS: u64 = 100;

/// How long a run keeps its outcome open for an effect in doubt, after answer_by.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: handed_off.
pub const DOUBT_WAIT_MS_DEFAULT: u64 = 24 * 60 * 60 * 1_000;

/// How long an effect entry outlives its run.
/// Unit: milliseconds. Enforced by: nobody yet, it is only recorded. Beyond: kept all the same.
pub const KEY_MEMORY_MS_DEFAULT: u64 = 400 * 24 * 60 * 60 * 1_000;

/// How long remote work that was given up may have an owner before somebody is told that nothing
/// was heard of it, beyond its own timeout or from the moment a person takes it over.
/// Unit: milliseconds. Enforced by: `graph` validation, `machine`. Beyond: CONTRACT_INVALID,
/// INVALID_INPUT.
pub const ORPHAN_TTL_MS_MAX: u64 = 7 * 24 * 60 * 60 * 1_000;

/// How long a person has remote work that they take over without saying for how long.
/// Unit: milliseconds. Enforced by: the command line. Beyond: `orphan_overdue`.
pub const ORPHAN_ADOPT_MS_DEFAULT: u64 = 60 * 60 * 1_000;

/// Wait before a call asks again by itself for an effect key that another run holds. The commit
/// that settles the key wakes it before that, unless too many wait.
/// Unit: milliseconds. Enforced by: `machine`. Beyond: not applicable.
pub const KEY_HELD_RETRY_MS: u64 = 60_000;

/// How often what undoes an effect asks for its key while another undo, of which nobody knows what
/// became, holds it.
/// Unit: asks. Enforced by: `machine`. Beyond: it fails with KEY_HELD_BY_OTHER_RUN, and an alert
/// tells people.
pub const UNDO_KEY_ASKS_MAX: u32 = 10;

/// Events of one append.
/// Unit: events. Enforced by: the runtime, which ends the turn. Beyond: the rest waits a turn.
pub const APPEND_EVENTS_MAX: usize = 4_096;

/// Events the core adds to an append by one `Advance`, beyond the last call's own.
/// Unit: events. Enforced by: `machine`. Beyond: the rest is due with the next `Advance`.
pub const ADVANCE_EVENTS_MAX: usize = 1_024;

/// Commands one turn takes from its mailbox.
/// Unit: commands. Enforced by: the runtime. Beyond: they wait for the next turn.
pub const TURN_COMMANDS_MAX: usize = 256;

/// Commands that wait in one run's mailbox.
/// Unit: commands. Enforced by: the runtime. Beyond: the sender waits.
pub const MAILBOX_COMMANDS_MAX: usize = 1_024;

/// Runs one engine keeps live.
/// Unit: runs. Enforced by: the runtime. Beyond: ENGINE_FULL for new starts.
pub const LIVE_RUNS_MAX: usize = 10_000;

/// Runs of earlier processes that an engine takes up at once unless it is told otherwise: the
/// places up to `LIVE_RUNS_MAX` are for new runs.
/// Unit: runs. Enforced by: the runtime. Beyond: taken up as others end, and when asked for.
pub const RECOVERED_RUNS_MAX: usize = 9_000;

/// How long a run that leaves memory has nothing to do; with less ahead it stays.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: parked.
pub const PARK_MS_MIN: u64 = 20_000;

/// Payloads of an ended run that a handle to it keeps in memory, to tell its outcome from.
/// Unit: bytes. Enforced by: the runtime. Beyond: the outcome is read from the ledger.
pub const LEFT_BYTES_MAX: usize = 65_536;

/// How long a worker incarnation says it lives; said again after a third of it.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: other workers take its runs over.
pub const LEASE_MS: u64 = 30_000;

/// Aborts of a process, in a row, during which the same run was being executed.
/// Unit: aborts. Enforced by: the runtime. Beyond: the run is quarantined before it is folded.
pub const ABORTS_IN_A_ROW_MAX: u32 = 3;

/// Tries to have a command taken by the run it was put into the inbox of.
/// Unit: tries. Enforced by: the runtime. Beyond: RUN_NOT_LIVE; the command stays in the inbox.
pub const TAKE_TRIES_MAX: u32 = 60;

/// Commit requests that wait for the committer.
/// Unit: requests. Enforced by: the ledger backend. Beyond: the caller waits.
pub const COMMIT_QUEUE_MAX: usize = 16_384;

/// Attempts of an operation that are seen before predictions rest on them.
/// Unit: attempts. Enforced by: the runtime. Beyond: the contract's estimate is not used.
pub const SEEN_ATTEMPTS_MIN: u32 = 20;

/// Attempts of an operation after which the older half of what was seen is forgotten.
/// Unit: attempts. Enforced by: the runtime. Beyond: forgotten.
pub const SEEN_ATTEMPTS_MAX: u32 = 512;

/// How long after the last attempt of an operation what was seen of it is believed.
/// Unit: ms. Enforced by: the runtime. Beyond: forgotten; the contract's estimate holds again, so
/// that an operation that nobody asks any more because it was slow is asked again.
pub const SEEN_MS_MAX: u64 = 60_000;

/// Operations one process watches.
/// Unit: operations. Enforced by: the runtime. Beyond: the contract's estimate holds.
pub const SEEN_OPERATIONS_MAX: usize = 4_096;

/// Numbers of a refusal that are recorded with a decision.
/// Unit: numbers. Enforced by: `machine`. Beyond: left out.
pub const REFUSED_NUMBERS_MAX: usize = 8;

/// How often the budget of one lap may be raised.
/// Unit: raises. Enforced by: `machine`. Beyond: RAISE_REFUSED.
pub const LAP_RAISES_MAX: usize = 64;

/// Dependencies with a cap of their own, of one class.
/// Unit: dependencies. Enforced by: `graph`. Beyond: BUDGET_INVALID.
pub const DEPENDENCY_CAPS_MAX: usize = 64;

/// Commit requests of one group.
/// Unit: requests. Enforced by: the ledger backend. Beyond: the rest is the next group.
pub const COMMIT_GROUP_MAX: usize = 1_024;

/// Inbox commands of one run that wait to be taken.
/// Unit: commands. Enforced by: the ledger. Beyond: INBOX_FULL.
pub const INBOX_COMMANDS_MAX: usize = 1_024;

/// Runs that wait for one effect key which another run holds.
/// Unit: runs. Enforced by: the ledger. Beyond: not registered; the run's own timer asks again.
pub const KEY_WAITERS_MAX: usize = 32;

/// Waiting runs that one commit wakes, over all keys it settles.
/// Unit: runs. Enforced by: the ledger. Beyond: they stay registered; their own timers ask again.
pub const KEY_WAKES_MAX: usize = 256;

/// Runs that one subscriber to knocks has not taken yet.
/// Unit: runs. Enforced by: the ledger. Beyond: it is told to look at everything.
pub const KNOCKS_MAX: usize = 1_024;

/// Runs of one process whose code is marked as being executed.
/// Unit: marks. Enforced by: `ledger/log`. Beyond: an abort is not counted against that run.
pub const MARKS_MAX: usize = 256;

/// Largest value stored under one key of sled; whoever has larger ones cuts them first.
/// Unit: bytes. Enforced by: `ledger/sled`. Beyond: a bug (assert).
pub const SLED_VALUE_BYTES_MAX: usize = 64 << 10;

/// What sled writes between two syncs; less than its segment, or a loss of power may leave a table
/// that has to be made anew.
/// Unit: bytes in its file, estimated from above. Enforced by: `ledger/log`. Beyond: the next sync.
pub const SLED_SYNC_BYTES_MAX: usize = 6 << 20;

/// Rows of runs that were written lately and are kept in memory, so that a commit reads nothing.
/// Unit: runs. Enforced by: `ledger/log`. Beyond: the older half is read again.
pub const HEADS_MAX: usize = 2 * LIVE_RUNS_MAX;

/// Longest key of a row in the table of how things stand.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: a bug (assert).
pub const TABLE_KEY_BYTES_MAX: usize = 128;

/// Largest value that stands whole under one key of the table; larger ones are cut into pieces.
/// A table rewrites a row's neighbours with it, so a small change beside large values would cost
/// a MiB.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: pieces.
pub const TABLE_WHOLE_BYTES_MAX: usize = 1 << 10;

/// Size of a piece of a large value in the table.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: the next piece.
pub const TABLE_PIECE_BYTES_MAX: usize = 32 << 10;

/// Keys in one bucket, the unit in which a key's absence is proven.
/// Unit: keys. Enforced by: `ledger/log`. Beyond: the bucket is split in two.
pub const BUCKET_KEYS_MAX: u64 = 128;

/// Rows of buckets that are known in memory, so that a key's absence is proven without reading.
/// Unit: rows, about 10 bytes each. Enforced by: `ledger/log`. Beyond: buckets are read again.
pub const BUCKET_ROWS_KNOWN_MAX: usize = 4 << 20;

/// Acknowledged rows in memory that are handed to the applier as one generation.
/// Unit: rows. Enforced by: `ledger/log`. Beyond: they are applied.
pub const OVERLAY_ROWS_FREEZE: usize = 65_536;

/// The same, by size.
/// Unit: bytes of keys and values and what keeping them costs. Enforced by: `ledger/log`. Beyond:
/// they are applied.
pub const OVERLAY_BYTES_FREEZE: usize = 16 << 20;

/// How long an acknowledged row stays out of the table although there are few.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: they are applied.
pub const OVERLAY_FREEZE_MS: u64 = 1_000;

/// Rows in memory that are not in the table yet, at which ordinary commits wait.
/// Unit: rows. Enforced by: `ledger/log`. Beyond: ordinary commits wait.
pub const OVERLAY_ROWS_HIGH: usize = 200_000;

/// The same, by size.
/// Unit: bytes, as above. Enforced by: `ledger/log`. Beyond: ordinary commits wait.
pub const OVERLAY_BYTES_HIGH: usize = 40 << 20;

/// Age of the oldest row that is not in the table yet, at which ordinary commits wait: the log
/// from there on is what an open reads again.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: ordinary commits wait.
pub const OVERLAY_HIGH_MS: u64 = 60_000;

/// Rows in memory that are not in the table yet, at which only what settles and controls goes on.
/// Unit: rows. Enforced by: `ledger/log`. Beyond: only the control lane commits.
pub const OVERLAY_ROWS_FULL: usize = 300_000;

/// The same, by size.
/// Unit: bytes, as above. Enforced by: `ledger/log`. Beyond: only the control lane commits.
pub const OVERLAY_BYTES_FULL: usize = 64 << 20;

/// How long readers of the table are held by one batch of changes.
/// Unit: milliseconds, aimed at. Enforced by: `ledger/log`. Beyond: the next batch is smaller.
pub const APPLY_BATCH_MS: u64 = 5;

/// Changes of one batch.
/// Unit: changes. Enforced by: `ledger/log`. Beyond: the next batch.
pub const APPLY_BATCH_ROWS_MAX: usize = 1_024;

/// First wait before a generation that could not be applied is applied again; doubles.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: not applicable.
pub const APPLY_RETRY_MS_MIN: u64 = 50;

/// Longest such wait.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: capped.
pub const APPLY_RETRY_MS_MAX: u64 = 5_000;

/// How long whoever asks that everything be applied waits for it, a clean close included. What is
/// not in the table by then is in the log.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: STORE_IO.
pub const APPLY_FLUSH_MS_MAX: u64 = 30_000;

/// What sled writes, at which it is closed and opened again within the process: opening reads
/// what was written since.
/// Unit: bytes in its file, estimated. Enforced by: `ledger/log`. Beyond: opened again.
pub const SLED_WRITTEN_MAX: u64 = 512 << 20;

/// How often a held store is tried again while one waits for it.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: not applicable.
pub const STORE_LOCK_POLL_MS: u64 = 20;

/// How long sled may take to let go of its files.
/// Unit: milliseconds. Enforced by: `ledger/sled`. Beyond: STORE_IO.
pub const SLED_CLOSE_MS_MAX: u64 = 30_000;

/// Free space of the store's volume that new runs need.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: with less, STORE_FULL.
pub const START_ROOM_BYTES_MIN: u64 = 128 << 20;

/// Free space of the store's volume that opening a store needs: the table takes room in whole
/// segments, writes when it is opened, and wants half of `COMMIT_ROOM_BYTES_MIN` left for each
/// batch of what the log has beyond it.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: with less, the ballast is given up first.
pub const OPEN_ROOM_BYTES_MIN: u64 = 40 << 20;

/// Free space of the store's volume that new attempts, and the table, need: sled grows by whole
/// segments and must never meet a full disk, because it keeps that error.
/// Unit: bytes. Enforced by: `ledger/log`, `ledger/sled`. Beyond: with less, only what is in flight
/// is settled and commands for an inbox are taken.
pub const COMMIT_ROOM_BYTES_MIN: u64 = 64 << 20;

/// Alerts that a store keeps.
/// Unit: alerts. Enforced by: `ledger/log`. Beyond: the oldest are forgotten.
pub const ALERTS_KEPT_MAX: u64 = 100_000;

/// Pause between two rounds of keeping a store small.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: not applicable.
pub const SWEEP_MS: u64 = 1_000;

/// Size of a segment of the log.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: the next segment.
pub const LOG_SEGMENT_BYTES: u32 = 64 << 20;

/// Size of a store's first segment; each one after it is four times as large, up to
/// `LOG_SEGMENT_BYTES`, so that a small store stays small.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: the next segment.
pub const LOG_SEGMENT_BYTES_FIRST: u32 = 1 << 20;

/// Size of a segment that is made for control and settlements when the disk is full.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: the next segment.
pub const LOG_SEGMENT_BYTES_SHORT: u32 = 4 << 20;

/// Largest frame of the log: all of one group.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: refused; whoever builds groups ends them before.
pub const LOG_FRAME_BYTES_MAX: usize = 256 << 20;

/// Largest request that can be appended at once: it fits into a frame by itself.
/// Unit: bytes of its frame, from above. Enforced by: `ledger/log`. Beyond: STORE_FULL.
pub const REQUEST_BYTES_MAX: usize = LOG_FRAME_BYTES_MAX - (1 << 20);

/// Longest line of an export that an import reads: a record as base64, and words beside it.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: EXPORT_DAMAGED.
pub const EXPORT_LINE_BYTES_MAX: usize = 2 * RECORD_BYTES_MAX;

/// Longest key of a row in the log.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: a bug (assert).
pub const LOG_KEY_BYTES_MAX: usize = 128;

/// Frames between two syncs of the log.
/// Unit: frames. Enforced by: `ledger/log`. Beyond: it syncs by itself.
pub const LOG_UNSYNCED_FRAMES_MAX: u16 = 1_024;

/// What is kept of the log's last room, on a full disk, for control and settlements.
/// Unit: percent of the segment that is written. Enforced by: `ledger/log`. Beyond: STORE_FULL for
/// everything else.
pub const LOG_RESERVE_PERCENT: u32 = 10;

/// Room that a store holds back on its volume and gives up when that is full, so that settlements
/// and the table go on.
/// Unit: bytes. Enforced by: `ledger/log`. Beyond: made again when there is room.
pub const BALLAST_BYTES: u64 = 48 << 20;

/// How often room for the next segment is looked for on a full disk.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: not applicable.
pub const LOG_ROOM_POLL_MS: u64 = 250;

/// How long a look at the free room of the store's volume is good for.
/// Unit: milliseconds. Enforced by: `ledger/log`. Beyond: looked at again.
pub const LOG_ROOM_LOOK_MS: u64 = 100;

/// Largest record (header and payload).
/// Unit: bytes. Enforced by: `ledger::codec`. Beyond: CORRUPT_RECORD when read.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// Rows of each list of a run's explanation.
/// Unit: rows. Enforced by: `runtime::view::why`. Beyond: how many more there are.
pub const WHY_ROWS_MAX: usize = 200;

/// Rows of one page of a listing.
/// Unit: rows. Enforced by: the ledger. Beyond: a cursor.
pub const PAGE_ROWS_MAX: usize = 1_000;

/// Events of one page of a run's history.
/// Unit: events. Enforced by: the ledger. Beyond: a cursor.
pub const PAGE_EVENTS_MAX: usize = 1_000;

/// Records of one page of a run's history; a single larger record is a page of its own.
/// Unit: bytes as stored. Enforced by: the ledger. Beyond: a cursor.
pub const PAGE_EVENT_BYTES_MAX: usize = 8 << 20;

/// Events of a run after which its state is kept again, so that loading it folds no more than
/// about twice as many.
/// Unit: events. Enforced by: the runtime. Beyond: a snapshot is given to the ledger.
pub const SNAPSHOT_EVENTS: u64 = 1_000;

/// Payloads that a snapshot holds in itself; larger ones are stored once per run and referred to
/// by digest, so that the next snapshot does not write them again.
/// Unit: bytes. Enforced by: `ledger::codec`. Beyond: referred to.
pub const SNAPSHOT_INLINE_BYTES_MAX: usize = 1 << 10;

/// State of one snapshot, the payloads it refers to not counted.
/// Unit: bytes. Enforced by: `ledger::codec`. Beyond: no snapshot is kept, the events are folded.
pub const SNAPSHOT_STATE_BYTES_MAX: usize = 32 << 20;

/// Runs that are loaded for one page of effects.
/// Unit: runs. Enforced by: the runtime. Beyond: the next page.
pub const EFFECT_RUNS_MAX: usize = 100;

/// Reads of one page or run that a recovery makes while reading fails, a second apart.
/// Unit: reads. Enforced by: the runtime. Beyond: the engine does not start.
pub const RECOVERY_READS_MAX: u32 = 60;

/// Fallback for the wait a full engine tells its callers.
/// Unit: milliseconds. Enforced by: the runtime. Beyond: not applicable.
pub const RETRY_AFTER_MS_DEFAULT: u64 = 1_000;

/// Lists and objects of one JSON text that may lie inside each other; a scalar alone has depth 0.
/// Unit: levels. Enforced by: `types::json`. Beyond: INVALID_INPUT (the stack stays bounded).
pub const JSON_DEPTH_MAX: usize = 128;

/// One JSON text, read or written; callers with a smaller bound pass it.
/// Unit: bytes. Enforced by: `types::json`. Beyond: INVALID_INPUT.
pub const JSON_BYTES_MAX: usize = 16 << 20;

/// Significant fields of one effect.
/// Unit: JSON pointers. Enforced by: `graph` validation. Beyond: CONTRACT_INVALID.
pub const SIGNIFICANT_FIELDS_MAX: usize = 64;

/// How much earlier than we stop waiting a receiver is told to be done, so that its answer still
/// has time to travel.
/// Unit: milliseconds. Enforced by: `adapters/http`. Beyond: not applicable.
pub const HTTP_TRAVEL_MARGIN_MS: u64 = 25;

/// How much earlier than the attempt's time is up the adapter stops waiting, so that what it knows
/// of the request is told before the timeout layer, which knows less, ends the attempt.
/// Unit: milliseconds. Enforced by: `adapters/http`. Beyond: not applicable.
pub const HTTP_TELLING_MARGIN_MS: u64 = 5;

/// How long an unused connection is kept. Servers commonly close after 5 s and more; a request that
/// meets such a close on its way is in doubt for nothing.
/// Unit: milliseconds. Enforced by: `adapters/http`. Beyond: closed.
pub const HTTP_IDLE_CONNECTION_MS_MAX: u64 = 4_000;

/// Unused connections kept for one client.
/// Unit: connections. Enforced by: `adapters/http`. Beyond: closed after use.
pub const HTTP_IDLE_CONNECTIONS_MAX: usize = 64;

/// Longest URL in a message for people.
/// Unit: characters. Enforced by: `adapters/http`. Beyond: cut, with an ellipsis.
pub const HTTP_SHOWN_URL_CHARS_MAX: usize = 200;

/// Requests of one HTTP adapter: largest reply body.
/// Unit: bytes. Enforced by: `adapters/http`. Beyond: RESULT_INVALID.
pub const HTTP_REPLY_BYTES_MAX: usize = 4 << 20;

/// Time to open a connection, apart from the attempt's own timeout.
/// Unit: milliseconds. Enforced by: `adapters/http`. Beyond: TRANSIENT_TRANSPORT, NOT_SENT.
pub const HTTP_CONNECT_MS_DEFAULT: u64 = 1_000;

/// Body of a reply that is not 2xx, where an adapter reads it for the receiver's own code.
/// Unit: bytes. Enforced by: `adapters/http`. Beyond: not read; the status alone is told.
pub const HTTP_REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Largest reply of a model, its envelope included.
/// Unit: bytes. Enforced by: `adapters/model`. Beyond: RESULT_INVALID.
pub const MODEL_REPLY_BYTES_MAX: usize = 1 << 20;

/// Messages of one prompt.
/// Unit: messages. Enforced by: `adapters/model`. Beyond: INVALID_INPUT, nothing is sent.
pub const MODEL_MESSAGES_MAX: usize = 1_024;

/// Schema of a reply's type, as it is sent with every request.
/// Unit: bytes of JSON. Enforced by: `adapters/model`. Beyond: SCHEMA_INVALID.
pub const MODEL_SCHEMA_BYTES_MAX: usize = 256 << 10;

/// Places that the failure of a reply which breaks its schema names.
/// Unit: places. Enforced by: `adapters/model`. Beyond: counted.
pub const MODEL_SHOWN_PLACES_MAX: usize = 3;

/// Longest such place.
/// Unit: characters. Enforced by: `adapters/model`. Beyond: cut, with an ellipsis.
pub const MODEL_SHOWN_PLACE_CHARS_MAX: usize = 120;

/// Parameters that a user adds to every request of a model.
/// Unit: parameters. Enforced by: `adapters/model`. Beyond: INVALID_INPUT when it is built.
pub const MODEL_PARAMETERS_MAX: usize = 32;

/// Connections to one engine's local socket at once.
/// Unit: connections. Enforced by: the socket. Beyond: SOCKET_BUSY, and closed.
pub const SOCKET_CONNECTIONS_MAX: usize = 64;

/// Head of one request at the local socket.
/// Unit: bytes. Enforced by: the socket. Beyond: refused by HTTP's own status, and closed.
pub const SOCKET_HEAD_BYTES_MAX: usize = 16 << 10;

/// Body of one request at the local socket.
/// Unit: bytes. Enforced by: the socket. Beyond: PAYLOAD_TOO_LARGE.
pub const SOCKET_BODY_BYTES_MAX: usize = 64 << 10;

/// One answer of the local socket.
/// Unit: bytes. Enforced by: the socket, at both ends. Beyond: PAYLOAD_TOO_LARGE.
pub const SOCKET_REPLY_BYTES_MAX: usize = 64 << 20;

/// Time for the head, and again for the body, of a request at the local socket.
/// Unit: milliseconds. Enforced by: the socket. Beyond: closed.
pub const SOCKET_READ_MS_MAX: u64 = 5_000;

/// Time from a whole request to its answer.
/// Unit: milliseconds. Enforced by: the socket. Beyond: SOCKET_FAILED.
pub const SOCKET_ANSWER_MS_MAX: u64 = 30_000;

/// Life of one connection to the local socket, whatever it does.
/// Unit: milliseconds. Enforced by: the socket. Beyond: closed.
pub const SOCKET_CONNECTION_MS_MAX: u64 = 120_000;

/// How long a reader of alerts may let the local socket wait for the next one.
/// Unit: milliseconds. Enforced by: the socket. Beyond: answered with none.
pub const SOCKET_ALERT_WAIT_MS_MAX: u64 = 20_000;

/// Time that requests under way have once the engine is over.
/// Unit: milliseconds. Enforced by: the socket. Beyond: closed.
pub const SOCKET_DRAIN_MS_MAX: u64 = 1_000;

/// Longest path of a local socket; the operating system takes 107 bytes.
/// Unit: bytes. Enforced by: the socket. Beyond: a short path elsewhere, found by a pointer file.
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

const _: () = assert!(PAYLOAD_BYTES_MAX < JSON_BYTES_MAX);
const _: () = assert!(HTTP_TELLING_MARGIN_MS < HTTP_TRAVEL_MARGIN_MS);
const _: () = assert!(SOCKET_ALERT_WAIT_MS_MAX < SOCKET_ANSWER_MS_MAX);
const _: () = assert!(2 * SOCKET_READ_MS_MAX + SOCKET_ANSWER_MS_MAX < SOCKET_CONNECTION_MS_MAX);
const _: () = assert!(HTTP_TRAVEL_MARGIN_MS < HTTP_CONNECT_MS_DEFAULT);
const _: () = assert!(MODEL_REPLY_BYTES_MAX <= HTTP_REPLY_BYTES_MAX);
const _: () = assert!(HTTP_REFUSAL_BYTES_MAX <= HTTP_REPLY_BYTES_MAX);
const _: () = assert!(MODEL_SHOWN_PLACES_MAX * MODEL_SHOWN_PLACE_CHARS_MAX * 2 < TEXT_BYTES_MAX);
const _: () = assert!(SLED_VALUE_BYTES_MAX < SLED_SYNC_BYTES_MAX / 8);
const _: () = assert!(COMMIT_ROOM_BYTES_MIN < START_ROOM_BYTES_MIN);
const _: () = assert!(COMMIT_ROOM_BYTES_MIN / 2 + (8 << 20) <= OPEN_ROOM_BYTES_MIN);
const _: () = assert!(OPEN_ROOM_BYTES_MIN < BALLAST_BYTES);
const _: () = assert!(PAYLOAD_BYTES_MAX < RECORD_BYTES_MAX);
const _: () = assert!(SNAPSHOT_STATE_BYTES_MAX < RECORD_BYTES_MAX);
const _: () = assert!(SNAPSHOT_INLINE_BYTES_MAX < PAYLOAD_BYTES_MAX);
const _: () = assert!(INPUT_BYTES_MAX <= PAYLOAD_BYTES_MAX);
const _: () = assert!(2 * RECORD_BYTES_MAX < LOG_FRAME_BYTES_MAX);
const _: () = assert!(LOG_FRAME_BYTES_MAX < u32::MAX as usize / 4);
const _: () = assert!(LOG_SEGMENT_BYTES_SHORT <= LOG_SEGMENT_BYTES);
const _: () = assert!(LOG_SEGMENT_BYTES_FIRST <= LOG_SEGMENT_BYTES);
const _: () = assert!((LOG_SEGMENT_BYTES_SHORT as u64) < BALLAST_BYTES);
const _: () = assert!(EACH_ITEMS_MAX as usize <= RUN_CALLS_MAX);
const _: () = assert!(CLASS_NODES_MAX <= RUN_CALLS_MAX);
const _: () = assert!(APPEND_EVENTS_MAX / 2 + ADVANCE_EVENTS_MAX < APPEND_EVENTS_MAX);
const _: () = assert!(COMMIT_GROUP_MAX <= COMMIT_QUEUE_MAX);
const _: () = assert!(RECOVERED_RUNS_MAX < LIVE_RUNS_MAX);
const _: () = assert!(LOOKUP_CROWD_IN_FLIGHT_MAX < CONTROL_IN_FLIGHT_MAX);
const _: () = assert!(LOOKUP_CROWD_BURST <= LOOKUP_CROWD_IN_FLIGHT_MAX);
const _: () = assert!(0 < LOOKUP_CROWD_SPACING_MS && 0 < LOOKUP_CROWD_JITTER_MS);
const _: () = assert!(LOOKUP_BACKOFF_BASE_MS <= LOOKUP_BACKOFF_MAX_MS);
const _: () = assert!(LOOKUP_BACKOFF_MAX_MS <= LOOKUP_BACKOFF_ENDED_MAX_MS);
const _: () = assert!(TABLE_WHOLE_BYTES_MAX < TABLE_PIECE_BYTES_MAX);
const _: () = assert!(TABLE_PIECE_BYTES_MAX < SLED_VALUE_BYTES_MAX);
const _: () = assert!(2 * OVERLAY_ROWS_FREEZE < OVERLAY_ROWS_HIGH);
const _: () = assert!(2 * OVERLAY_BYTES_FREEZE < OVERLAY_BYTES_HIGH);
const _: () = assert!(OVERLAY_ROWS_HIGH < OVERLAY_ROWS_FULL);
const _: () = assert!(OVERLAY_BYTES_HIGH < OVERLAY_BYTES_FULL);
const _: () = assert!(OVERLAY_FREEZE_MS < OVERLAY_HIGH_MS);
const _: () = assert!(APPLY_RETRY_MS_MIN <= APPLY_RETRY_MS_MAX);
const _: () = assert!(APPLY_RETRY_MS_MAX < APPLY_FLUSH_MS_MAX);

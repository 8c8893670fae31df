/** The name of the lease for which the nodes contend. */
export const LEASE = 'reports'

/** What the holder writes to, behind a fencing guard. */
export const RESOURCE = 'report.csv'

/** The timing of the lease, in milliseconds: short enough to watch, with a heartbeat lost now and then allowed for. */
export const TIMES = { heartbeatTimeout: 6_000, heartbeatInterval: 1_500, operationTimeout: 1_000 }

/** A message is under way for at least and at most this long, in milliseconds: slow enough to be seen. */
export const SHORTEST_WAY = 140
export const LONGEST_WAY = 220

/** How long a slow link delays a message more, in milliseconds: longer than an operation may take. */
export const SLOW_BY = 1_500

/** The holder writes this often, in milliseconds, and computes what it writes for so long after it has checked its lease. */
export const WRITE_EVERY = 1_200
export const COMPUTE_FOR = 400

/** How long a node rests after its work has ended, before it asks again, in milliseconds. */
export const REST = 600

/** For how long the name stays locked after an operator has broken the lease, in milliseconds. */
export const BREAK_PERIOD = 3_000

/** For how long the store is down when it restarts, in milliseconds. */
export const RESTART = 2_000

export const HOUR = 3_600_000

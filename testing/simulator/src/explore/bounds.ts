/** The bounds of an exploration: all that can happen, and how much of it at a time. Durations in units of the grid. */
export interface Bounds {
  /** `server-timed`: the decisions of the store in memory. `observed`: those of `casStore`, over a register. */
  readonly store: 'server-timed' | 'observed'
  /** The number of clients. They are alike, so that two states that differ only in their order are one. */
  readonly clients: number
  /** The ttl. Validity is one unit shorter, a heartbeat is due one unit after the last, and a call has one unit. */
  readonly ttl: number
  /**
   * How many messages of a client, to the store and back, can be on the way at a time. Each can be on its way for ever,
   * which is the same as lost; when there is no room, any of them can be dropped.
   */
  readonly messages: number
  /** Whether a request can be carried out any number of times. */
  readonly duplicates: boolean
  /** Whether an answer still arrives when its call was given up. Server-timed stores only: the other ones wait for none. */
  readonly lateAnswers: boolean
  /** Whether a call can fail at once, while its request goes on. */
  readonly failures: boolean
  /** Whether a client can crash, at any time; a new one takes its place. */
  readonly crashes: boolean
  /** By how much clocks can be wrong: in each ttl, one clock can lose (`slow`) or lose or gain (`both`) a unit. */
  readonly drift: 'none' | 'slow' | 'both'
  /** After how many steady units a clock can be wrong again; one less than the ttl unless given, as a lease allows. */
  readonly steady?: number
  /** How users acquire: with a wait that they can give up at any time, or once. */
  readonly users: readonly ('waiting' | 'once')[]
  /**
   * Whether waiters keep places in the queue of the store. Nobody asks while there are twice as many places as clients.
   * Server-timed stores only.
   */
  readonly queue: boolean
  /** Whether clients free, in the background and at any time, what they may have left. Server-timed stores only. */
  readonly cleanup: boolean
  /**
   * Whether states differ also by what makes no difference to the engine and the stores as they are, such as when a claim
   * was sent that was answered. Needed for deliberate bugs, to which it may make one; takes several times as many states.
   */
  readonly exact: boolean
  /** Whether an operator can delete the record of a free name. Server-timed stores only. */
  readonly deletions: boolean
}

/** Two clients of a server-timed store, with all that can happen. */
export const defaultBounds: Bounds = {
  store: 'server-timed',
  clients: 2,
  ttl: 5,
  messages: 2,
  duplicates: true,
  lateAnswers: false,
  failures: true,
  crashes: true,
  drift: 'slow',
  users: ['waiting'],
  queue: false,
  cleanup: false,
  exact: false,
  deletions: false,
}

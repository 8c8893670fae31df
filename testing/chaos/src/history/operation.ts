/**
 * One call of a client process, as it was recorded.
 *
 * All instants are milliseconds, with a fraction, on the monotonic clock of the machine (`process.hrtime`), which all its
 * processes share: instants of different clients can be compared.
 */
export type Operation = Call & {
  /** Unique within the history. */
  readonly id: number
  /** The number of the client, which a process keeps when it is started again. */
  readonly client: number
  /** Which process of the client made the call: 1 for its first, 2 after it was killed once. */
  readonly life: number
  /** Before the call. */
  readonly from: number
  /** After it had settled; `Infinity` if the process died, or the run ended, before. */
  readonly to: number
}

/** A call with its outcome. An outcome is `unknown` if the call was rejected without a certain answer, or never settled. */
export type Call = Acquire | Release | HandOver | Check | Write | Read

export interface Acquire {
  readonly call: 'acquire'
  readonly name: string
  readonly outcome: 'granted' | 'refused' | 'unknown'
  /** Of the grant, with its validity as it was when the call had settled. */
  readonly token?: bigint
  readonly validUntil?: number
}

export interface Release {
  readonly call: 'release'
  readonly name: string
  readonly token: bigint
  /** `gone`: the claim is certainly gone. `foreign`: another owner holds the name. */
  readonly outcome: 'gone' | 'foreign' | 'unknown'
}

/** The holder gives its grant to another client. */
export interface HandOver {
  readonly call: 'hand-over'
  readonly name: string
  readonly token: bigint
  readonly outcome: 'handed-over' | 'refused' | 'unknown'
}

/** A look at `checkLease()`, which a client takes many times while it holds, and sometimes while it does not. */
export interface Check {
  readonly call: 'check'
  readonly name: string
  readonly outcome: 'held' | 'not-held'
  /** While held. */
  readonly token?: bigint
  /** While held: when the validity ends unless it is renewed. */
  readonly validUntil?: number
}

/** A holder writes to the guarded register of the name: the number after the last that it has read. */
export interface Write {
  readonly call: 'write'
  readonly name: string
  readonly token: bigint
  /** Unique within the history of the name. */
  readonly value: string
  /** The number of the write: one more than in the value that was read before. */
  readonly count: number
  /** `refused`: the guard has seen a larger token, so that the write has certainly no effect. */
  readonly outcome: 'accepted' | 'refused' | 'unknown'
}

/** A strongly consistent read of the guarded register of the name. */
export interface Read {
  readonly call: 'read'
  readonly name: string
  readonly outcome: 'read' | 'unknown'
  /** `undefined` before the first write. */
  readonly value?: string
  readonly count?: number
}

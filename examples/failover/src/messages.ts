/** An entry to write to the ledger. The script sends every entry to every worker. */
export interface Entry {
  readonly type: 'entry'
  readonly id: number
}

/** A message from the script to a worker. */
export type Order = Entry | { readonly type: 'stop' }

/** A message from a worker to the script. `at` is a time on the machine's clock. */
export type Report =
  | { readonly type: 'ready' }
  | Status
  | { readonly type: 'granted'; readonly at: number; readonly token: string }
  | { readonly type: 'lost'; readonly at: number; readonly reason: string; readonly heldWhenLooked: boolean }
  | { readonly type: 'late-write'; readonly token: string; readonly refused: boolean }
  | { readonly type: 'releasing'; readonly at: number }

/** The status of a worker, sent several times a second. */
export interface Status {
  readonly type: 'status'
  readonly state: 'acquiringLease' | 'active'
  readonly token: string | undefined
  /** Remaining validity, in milliseconds. */
  readonly remaining: number
  readonly stashed: number
  readonly written: number
}

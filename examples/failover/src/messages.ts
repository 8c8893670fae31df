/** What is to be written to the ledger; every worker is sent every entry. */
export interface Entry {
  readonly type: 'entry'
  readonly id: number
}

/** What the script sends to the workers. */
export type Order = Entry | { readonly type: 'stop' }

/** What the workers tell the script; `at` is on the machine's clock. */
export type Report =
  | { readonly type: 'ready' }
  | Status
  | { readonly type: 'granted'; readonly at: number; readonly token: string }
  | { readonly type: 'lost'; readonly at: number; readonly reason: string; readonly heldWhenLooked: boolean }
  | { readonly type: 'late-write'; readonly token: string; readonly refused: boolean }
  | { readonly type: 'releasing'; readonly at: number }

/** How a worker is doing, several times a second. */
export interface Status {
  readonly type: 'status'
  readonly state: 'acquiringLease' | 'active'
  readonly token: string | undefined
  /** Validity left, in milliseconds. */
  readonly remaining: number
  readonly stashed: number
  readonly written: number
}

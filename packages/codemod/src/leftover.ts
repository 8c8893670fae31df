/** Code that was not changed, or that needs a look: where it is, why, and what to do. */
export interface Leftover {
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  readonly sentence: string
}

/** One call of a stack: the line that ran, or that made the call above it. */
export interface StackFrame {
  /** `(anonymous)` if it has no name. */
  readonly function: string
  /** The path, relative to the folder in which the process runs where it is in there; or a name such as `node:fs`. */
  readonly file: string
  /** In the file that ran, from 1: no source map is applied. */
  readonly line: number
  readonly column: number
}

/**
 * Why there is no stack. `native`: the main thread ran no JavaScript. `debugger`: the inspector of the process was open.
 * `unavailable`: this process, or this thread, cannot be asked for a stack.
 */
type NoStackCode = 'native' | 'debugger' | 'unavailable'

/** What was found out about the code that blocked the event loop: its stack, the innermost call first, or why there is none. */
export interface RecordedStack {
  /** For how long another thread of the process ran meanwhile, in milliseconds: for that time, the process was not stopped. */
  readonly watched?: number
  readonly stack?: readonly StackFrame[]
  readonly noStack?: { readonly code: NoStackCode; readonly message: string }
}

/** Where the recorder gets stacks from. */
export interface StackSource {
  /** A lease is held or asked for. */
  start(): void
  /** No lease is held or asked for any more. */
  stop(): void
  /** The event loop turns. Returns what was found out since the last look, for which it did not turn for `duration`. */
  look(duration: number): RecordedStack | undefined
}

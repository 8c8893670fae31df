import type { CommandRoot } from './command-processes.js'
import type { Deadlines } from './deadlines.js'
import type { RunMark } from './process-table.js'

/** The word of the command line with which `leasehold` starts its watchdog. */
export const watchdogWord = '--watchdog'

/** From `leasehold` to its watchdog, a line of JSON each. */
export type WatchdogOrder =
  /** A command is about to be started. Answered with a line, before which no command is started. */
  | { readonly type: 'arm'; readonly mark: RunMark; readonly killAfter: number; readonly deadlines: Deadlines }
  | { readonly type: 'started'; readonly root: CommandRoot }
  | { readonly type: 'extend'; readonly deadlines: Deadlines }
  /** `leasehold` has sent SIGTERM. */
  | { readonly type: 'ending' }
  /** The exit status of the first process was read. */
  | { readonly type: 'reaped' }
  /** Nothing of the command is alive. */
  | { readonly type: 'disarm' }

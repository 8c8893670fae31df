import type { CommandRoot } from './command-processes.js'
import type { EndPlan } from './end-plan.js'
import type { RunMark } from './process-table.js'

/** The word of the command line with which `leasehold` starts its watchdog. */
export const watchdogWord = '--watchdog'

/**
 * Everything that the watchdog knows of a command, from before its start until nothing of it is alive. It gets all of it
 * with each change, as a line of JSON, and `null` when there is nothing left to watch. It answers the first line of a
 * command: no command is started before.
 */
export interface WatchedCommand {
  readonly mark: RunMark
  readonly killAfter: number
  readonly plan: EndPlan
  /** The first process was started. */
  readonly root?: CommandRoot
  /** `leasehold` has sent SIGTERM. */
  readonly isEnding?: boolean
  /** The exit status of the first process was read. */
  readonly isReaped?: boolean
}

import type { CommandRoot } from './command-processes.js'
import type { EndPlan } from './end-plan.js'
import type { RunMark } from './process-table.js'

/** The word of the command line with which `leasehold` starts its watchdog. */
export const watchdogWord = '--watchdog'

/**
 * Everything that the watchdog knows of a command, from before its start until nothing of it is alive. With each change,
 * the watchdog gets all of it as a line of JSON, and `null` when there is nothing left to watch. It answers the first line
 * of a command, which is not started before that answer.
 */
export interface WatchedCommand {
  readonly mark: RunMark
  readonly killAfter: number
  readonly plan: EndPlan
  /** The first process, once it was started. */
  readonly root?: CommandRoot
  /** Whether `leasehold` has sent SIGTERM. */
  readonly isEnding?: boolean
  /** Whether the exit status of the first process was read. */
  readonly isReaped?: boolean
}

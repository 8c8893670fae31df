import { constants } from 'node:os'
import type { LeaseLostError } from '@leasehold/core'
import { exitCodes } from '../exit-codes.js'

/** `late`: no heartbeat was confirmed in time, and the time that is left was needed to end the command. */
export type LossReason = LeaseLostError['reason'] | 'late'

/** How a command has ended. Nothing of it is alive any more. */
export type CommandEnd =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly type: 'lost'; readonly reason: LossReason }
  | { readonly type: 'unstartable'; readonly program: string; readonly error: NodeJS.ErrnoException }

/** As the shells have it. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
const SIGNALLED = 128

/** The signals that users and service managers send. If one ends the command, it ends `leasehold` too. */
const passedOn: ReadonlySet<NodeJS.Signals> = new Set(['SIGHUP', 'SIGINT', 'SIGTERM'])

export function exitCodeOf(end: CommandEnd): number {
  switch (end.type) {
    case 'exited':
      return end.code
    case 'signalled':
      return SIGNALLED + constants.signals[end.signal]
    case 'lost':
      return exitCodes.lost
    case 'unstartable':
      return end.error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE
  }
}

/** The signal by which `leasehold` ends as its command did, so that a shell or a service manager sees the same. */
export function signalOf(end: CommandEnd): NodeJS.Signals | undefined {
  return end.type === 'signalled' && passedOn.has(end.signal) ? end.signal : undefined
}

/** The end of the command of a lease, for people. */
export function textOf(end: CommandEnd, name: string): string {
  switch (end.type) {
    case 'exited':
      return `the command exited with code ${end.code}`
    case 'signalled':
      return `the command was ended by ${end.signal}`
    case 'lost':
      return `the lease '${name}' was lost (${lossText(end.reason)}): the command was ended`
    case 'unstartable':
      return `the command '${end.program}' cannot be started: ${end.error.message}`
  }
}

/** The reason of a loss, for people. */
export function lossText(reason: LossReason): string {
  return reason === 'late' ? 'its heartbeats were not confirmed in time' : reason
}

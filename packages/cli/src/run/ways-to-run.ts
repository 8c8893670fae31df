import {
  type CreateLeaseOptions,
  createLease,
  type Lease,
  LeaseHeldError,
  LeaseLostError,
  type LeaseLostReason,
  type Logger,
} from '@leasehold/core'
import { type CommandEnd, textOf } from './command-end.js'
import type { LeasedCommand } from './leased-command.js'
import type { WaitingNotice } from './waiting-notice.js'

/** Everything that the ways to run a command under a lease have in common. */
export interface RunRequest {
  readonly name: string
  readonly leaseOptions: CreateLeaseOptions & { readonly owner: string }
  /** In milliseconds; 0: try once. */
  readonly wait: number
  /** Ends the wait. */
  readonly stop: AbortSignal
  readonly command: LeasedCommand
  readonly waiting: WaitingNotice
}

/** `undefined`: another owner holds the lease. `done`: there was nothing to do. */
export type RunOutcome = CommandEnd | { readonly type: 'done'; readonly note: string } | undefined

/** Runs it under the lease of the name. */
export async function runUnderLease(request: RunRequest): Promise<RunOutcome> {
  const lease = createLease(request.command.store, request.name, request.leaseOptions)
  return await runUnder(lease, request, () => ({}))
}

/** Runs it under a permit of a semaphore. */
export async function runUnderPermit(request: RunRequest, permits: number): Promise<RunOutcome> {
  const { Semaphore } = await import('@leasehold/recipes')
  const { name, leaseOptions, command } = request
  const permit = new Semaphore(command.store, { ...leaseOptions, name, permits }).permit()
  return await runUnder(permit, request, () => ({ LEASEHOLD_PERMIT: String(permit.slot ?? '') }))
}

async function runUnder(
  lease: Lease,
  { wait, stop, command, waiting }: RunRequest,
  variables: () => Readonly<Record<string, string>>,
): Promise<RunOutcome> {
  command.begin()
  waiting.begin()
  const acquiring = lease.acquire({ wait, signal: stop, onLost: command.lose })
  if (!(await acquiring.finally(() => waiting.end()))) return undefined
  try {
    return await command.run(lease.fencingToken, variables())
  } finally {
    // A grant that cannot be released expires.
    await lease.release().catch(() => false)
  }
}

/** Runs it unless it has succeeded under this key before. A command that fails leaves the key to the next caller. */
export async function runOnce(request: RunRequest, key: string): Promise<RunOutcome> {
  const { Once } = await import('@leasehold/recipes')
  const { name, leaseOptions, wait, stop, command, waiting } = request
  const once = new Once(command.store, { ...leaseOptions, name })
  const runs: Promise<CommandEnd>[] = []
  const work = async ({ signal, fencingToken }: { signal: AbortSignal; fencingToken: bigint }): Promise<unknown> => {
    waiting.end()
    onAbort(signal, command)
    const running = command.run(fencingToken, { LEASEHOLD_KEY: key })
    runs.push(running)
    const end = await running
    // Only a success is recorded.
    if (!isSuccess(end)) throw new CommandFailedError(textOf(end, name))
    return { code: 0 }
  }
  command.begin()
  waiting.begin()
  try {
    await once.run(key, work, { wait, signal: stop }).finally(() => waiting.end())
  } catch (error) {
    // A run that was lost is rejected at once, and its command may still be ending.
    const end = await runs[0]
    if (end !== undefined && !isSuccess(end)) return end
    if (error instanceof LeaseLostError) return { type: 'lost', reason: reasonOf(error) }
    if (error instanceof LeaseHeldError) return undefined
    throw error
  }
  const end = await runs[0]
  return end ?? { type: 'done', note: `'${key}' of '${name}' was done before: the command was not run` }
}

/** Runs it at each time of the cron expression, on one of any number of machines, until it is stopped. */
export async function runOnSchedule(
  request: RunRequest,
  { cron, timeZone, logger }: { readonly cron: string; readonly timeZone: string | undefined; readonly logger: Logger },
): Promise<undefined> {
  const { Schedule } = await import('@leasehold/recipes')
  const { name, leaseOptions, stop, command } = request
  const { maxHold: _, ...options } = leaseOptions
  const running = new Set<Promise<CommandEnd>>()
  const schedule = new Schedule(command.store, {
    ...options,
    name,
    cron,
    timeZone,
    logger,
    work: async ({ due, signal, fencingToken }) => {
      command.begin()
      onAbort(signal, command)
      const run = command.run(fencingToken, { LEASEHOLD_TICK: due.toISOString() })
      running.add(run)
      const end = await run
        .finally(() => running.delete(run))
        .catch(async (error: unknown) => {
          // A signal came before the start of the command: the schedule is about to stop, which interrupts the tick.
          if (error === stop.reason && !signal.aborted) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          }
          throw error
        })
      if (!isSuccess(end)) throw new CommandFailedError(textOf(end, name))
    },
  })
  schedule.start()
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
  // The signal that stops it was passed on: the command ends in its own time.
  await Promise.allSettled(running)
  await schedule.stop()
  throw stop.reason
}

function isSuccess(end: CommandEnd): boolean {
  return end.type === 'exited' && end.code === 0
}

function onAbort(signal: AbortSignal, command: LeasedCommand): void {
  const lose = (): void => {
    const { reason } = signal
    command.lose({ reason: reason instanceof LeaseLostError ? reasonOf(reason) : 'closed' })
  }
  if (signal.aborted) lose()
  signal.addEventListener('abort', lose, { once: true })
}

function reasonOf({ reason }: LeaseLostError): LeaseLostReason {
  return reason === 'released' ? 'closed' : reason
}

/** The command has not succeeded. */
class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}
